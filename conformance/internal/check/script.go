package check

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// scriptHead loads arrays. Its holes: what failed, the packages' folders relative to the script, imports, collection,
// adaptor, the expression that makes an array.
const scriptHead = `# Repeats one call of the conformance suite.
# %s
import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent / folder) for folder in (%s)]
%s
import %s_%s as ops

raw = Path(__file__).with_suffix(".safetensors").read_bytes()
start = 8 + int.from_bytes(raw[:8], "little")
places = json.loads(raw[8:start])


def array(name, dtype, shape, strides, offset):
    low, high = places[name]["data_offsets"]
    memory = bytearray(raw[start + low : start + high]) or bytearray(16)
    return %s


`

// scriptForce makes an op run one kernel. Its holes: the collection, the op and the kernel.
const scriptForce = `import tvm_ffi
import %s_backend as backend

tvm_ffi.load_module(str(backend.library_path()))["_opcast_force"](%q, %q)
`

// script is the call as a user would write it. At the end it prints the element that is wrong.
func (t *T) script(d *calls.ScriptSyntax, call *calls.Call, at *Element, text string) string {
	collection := t.Env.Project.Manifest.Name
	var b strings.Builder
	fmt.Fprintf(&b, scriptHead, commentOf(text), t.Env.folders(), d.Imports, collection, t.Caller.Name(), d.Array)
	if call.Kernel != "" {
		fmt.Fprintf(&b, scriptForce, collection, call.Op.Name, call.Kernel)
	}
	for list, length := range listsOf(call.Op.Inputs) {
		fmt.Fprintf(&b, "%s = [None] * %d\n", list, length)
	}
	for _, a := range argumentsOf(call) {
		fmt.Fprintf(&b, "%s = %s\n", a.name, argumentExpression(d, a))
		if x, ok := a.value.(*calls.Tensor); ok && x.ReadOnly {
			fmt.Fprintf(&b, "%s.flags.writeable = False\n", a.name)
		}
	}
	fmt.Fprintf(&b, "result = ops.%s(%s)\nprint(result)\n", call.Op.Name, strings.Join(parameters(call), ", "))
	if at != nil {
		picked := t.picked(call, at.Output)
		index := strings.Trim(rule.List(at.Index), "[]")
		if index == "" {
			index = "()"
		}
		fmt.Fprintf(&b, "print(%q, %s[%s], %q)\n", at.Name+rule.List(at.Index)+": got", picked, index, "want "+at.Want)
	}
	return b.String()
}

// picked is the expression for one of the results, by its number among all arrays.
func (t *T) picked(call *calls.Call, number int) string {
	lists := calls.ListsOf(call.Op)
	if lists == nil {
		if len(calls.ReturnedSlots(call, t.Caller)) > 1 {
			return fmt.Sprintf("result[%d]", number)
		}
		return "result"
	}
	for i, group := range lists.Results {
		name := "result"
		if len(lists.Results) > 1 {
			name = fmt.Sprintf("result[%d]", i)
		}
		switch n, _ := group[1].(int); {
		case n == calls.Single && number == 0:
			return name
		case number < n:
			return fmt.Sprintf("%s[%d]", name, number)
		default:
			number -= max(n, 1)
		}
	}
	return "result"
}

// listsOf are the lists among arguments, and how many arrays each has.
func listsOf(args []opdef.Arg) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for i, a := range args {
			if last := i+1 == len(args) || args[i+1].In != a.In; a.In != "" && last && !yield(a.In, a.At+1) {
				return
			}
		}
	}
}

// commentOf is what a comment can hold of a text.
func commentOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
}

// argumentExpression is the expression that makes an argument; strides and offset are in bytes.
func argumentExpression(d *calls.ScriptSyntax, a argument) string {
	x, ok := a.value.(*calls.Tensor)
	if !ok {
		return literal(a.value)
	}
	size := ndarray.ItemSize(x.DType)
	strides := make([]int64, len(x.Strides))
	for i, s := range x.Strides {
		strides[i] = s * size
	}
	return fmt.Sprintf("array(%q, %s, %s, %s, %d)",
		a.name, dtypeName(d, x.DType), rule.List(x.Shape), rule.List(strides), x.Offset*size)
}

func dtypeName(d *calls.ScriptSyntax, t dtype.DType) string {
	name := t.Long
	if strings.HasPrefix(d.DType, "np.") {
		if name = strconv.Quote(name); t.View != "" {
			name = "ml_dtypes." + t.Long
		}
	}
	return fmt.Sprintf(d.DType, name)
}

// parameters are the arguments between the parentheses of the call.
func parameters(call *calls.Call) []string {
	var out []string
	for i := range call.Inputs {
		in, name := &call.Op.Inputs[i], call.Op.Inputs[i].Name
		if in.In != "" {
			name = in.In
		}
		if len(call.Op.Order) > 0 {
			name += "=" + name
		}
		if in.At == 0 {
			out = append(out, name)
		}
	}
	for _, a := range call.Op.Attrs {
		if v, given := call.Attrs[a.Name]; given {
			out = append(out, a.Name+"="+literal(v))
		}
	}
	if names := outNames(call); len(names) == 1 {
		out = append(out, "out="+names[0])
	} else if len(names) > 1 {
		out = append(out, "out=("+strings.Join(names, ", ")+")")
	}
	return out
}

// outNames are what a public call passes as out=; it cannot ask for saved outputs.
func outNames(call *calls.Call) []string {
	var names []string
	if call.Out == nil || cases.OverwritesInputs(call.Op) {
		return nil
	}
	for _, i := range cases.PublicOutputs(call.Op) {
		if call.Out[i] == nil {
			names = append(names, "None")
		} else {
			names = append(names, call.Op.Outputs[i].Name)
		}
	}
	return names
}

// literal prints a value as Python.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return strconv.Quote(v)
	case cases.DType:
		return strconv.Quote(string(v))
	case []int64:
		return rule.List(v)
	case float64:
		return `float("` + oracle.FormatFloat(v) + `")`
	case calls.NumPyNumber:
		return "np.asarray(" + literal(v.Value) + ")[()]"
	case calls.NumberList:
		return fmt.Sprintf("[float(v) for v in %s]", strings.ReplaceAll(fmt.Sprint([]float64(v)), " ", ", "))
	}
	return fmt.Sprint(v)
}
