package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/cases"
	"github.com/opcast/opcast/conformance/oracle"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/rule"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// Element is the one of a result that a failure is about.
type Element struct {
	// Slot is its place among those of the op, Output among the results of the call.
	Slot   int     `json:"-"`
	Output int     `json:"output"`
	Name   string  `json:"name"`
	Index  []int64 `json:"index"`
	Want   string  `json:"want"`
}

// Reproduced writes a script that repeats a failing call, or the transformation that was sent last, and returns the line
// that points there. Where no call failed, or nothing can be written, it gives "".
func (t *T) Reproduced(call *calls.Call, at *Element, name, text string) string {
	if t.Exploring || t.interrupted() || t.Env.ReproducerDir == "" || call == nil && t.LastTransformation == nil {
		return ""
	}
	base := CaseName(t.Op.Name, t.Caller.Name(), name)
	base = freeName(filepath.Join(t.Env.ReproducerDir, base[:min(len(base), 120)]))
	files, err := t.reproducer(call, at, text)
	if err != nil {
		return ""
	}
	for suffix, data := range files {
		if err := os.WriteFile(base+suffix, data, 0o644); err != nil {
			return ""
		}
	}
	if r := t.CurrentRow(); r.Reproducer == "" {
		r.Reproducer = filepath.ToSlash(Relative(filepath.Dir(t.Env.ReproducerDir), base+".py"))
	}
	return "\n  repeat with: " + t.Env.python() + " " + Relative(t.Env.Project.Dir, base+".py")
}

// interrupted reports whether the run is being stopped: the calls that fail because of that are no failures.
func (t *T) interrupted() bool { return t.Ctx != nil && errors.Is(t.Ctx.Err(), context.Canceled) }

// CaseName is the name of a script, but for its suffix.
func CaseName(op, caller, name string) string {
	return strings.Trim(notName.ReplaceAllString(op+"-"+caller+"-"+name, "-"), "-")
}

// freeName is the base of a script that is not there yet: two checks may fail with calls of one name. It claims the
// name, since other jobs look for one, too.
func freeName(base string) string {
	name := base
	for i := 2; ; i++ {
		f, err := os.OpenFile(name+".py", os.O_CREATE|os.O_EXCL, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			if err == nil {
				_ = f.Close() // nothing was written
			}
			return name // where it cannot be made, writing it says so
		}
		name = fmt.Sprintf("%s-%d", base, i)
	}
}

// reproducer makes the files of a script by their suffixes: a user's call where one could write it, else the very request.
func (t *T) reproducer(call *calls.Call, at *Element, text string) (map[string][]byte, error) {
	if call == nil {
		request, blobs := calls.TransformRequest(t.LastTransformation)
		return t.Env.recorded(t.Caller.Name(), request, blobs, nil, text)
	}
	call = call.Clone()
	if call.Kernel == "" {
		call.Kernel = t.ForcedKernel()
	}
	if at != nil {
		list := calls.ReturnedSlots(call, t.Caller)
		at.Output = slices.IndexFunc(list, func(s cases.Slot) bool { return s.Arg == cases.Slots(t.Op)[at.Slot].Arg })
	}
	d := calls.AbilitiesOf(t.Caller).Script
	plain := call.Probe == "" && call.Mode == "eager" && call.Extra == nil && len(call.Inputs) <= len(call.Op.Inputs)
	if d == nil || !plain || t.Env.Replay.Always {
		request, blobs := calls.Pack(t.Caller.Name(), call)
		return t.Env.recorded(t.Caller.Name(), request, blobs, at, text)
	}
	arguments := argumentsOf(call)
	var data bytes.Buffer
	if err := writeMemory(&data, arguments); err != nil {
		return nil, err
	}
	return map[string][]byte{".safetensors": data.Bytes(), ".py": []byte(t.script(d, call, at, text))}, nil
}

// Relative is a path as seen from a folder; the path itself where that is impossible.
func Relative(dir, path string) string {
	if short, err := filepath.Rel(dir, path); err == nil {
		return short
	}
	return path
}

// argument is an argument of a call under the name that the script gives it.
type argument struct {
	name  string
	value any
}

func argumentsOf(call *calls.Call) []argument {
	var out []argument
	for i, v := range call.Inputs {
		out = append(out, argument{call.Op.Inputs[i].Name, v})
	}
	for i, o := range call.Out {
		if o != nil {
			out = append(out, argument{call.Op.Outputs[i].Name, o})
		}
	}
	return out
}

// writeMemory stores the whole buffer of every array, so that strides and offsets survive.
func writeMemory(data *bytes.Buffer, arguments []argument) error {
	var arrays []ndarray.Named
	for _, a := range arguments {
		if x, ok := a.value.(*calls.Tensor); ok {
			whole, err := ndarray.Of(x.DType, []int64{int64(len(x.Data)) / ndarray.ItemSize(x.DType)}, x.Data)
			if err != nil {
				return err
			}
			arrays = append(arrays, ndarray.Named{Name: a.name, Array: whole})
		}
	}
	return ndarray.WriteSafetensors(data, arrays)
}

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
	for _, a := range argumentsOf(call) {
		fmt.Fprintf(&b, "%s = %s\n", a.name, argumentExpression(d, a))
		if x, ok := a.value.(*calls.Tensor); ok && x.ReadOnly {
			fmt.Fprintf(&b, "%s.flags.writeable = False\n", a.name)
		}
	}
	fmt.Fprintf(&b, "result = ops.%s(%s)\nprint(result)\n", call.Op.Name, strings.Join(parameters(call), ", "))
	if at != nil {
		picked := "result"
		if len(calls.ReturnedSlots(call, t.Caller)) > 1 {
			picked = fmt.Sprintf("result[%d]", at.Output)
		}
		index := strings.Trim(rule.List(at.Index), "[]")
		if index == "" {
			index = "()"
		}
		fmt.Fprintf(&b, "print(%q, %s[%s], %q)\n", at.Name+rule.List(at.Index)+": got", picked, index, "want "+at.Want)
	}
	return b.String()
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
		out = append(out, call.Op.Inputs[i].Name)
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
	case calls.NumberList:
		return fmt.Sprintf("[float(v) for v in %s]", strings.ReplaceAll(fmt.Sprint([]float64(v)), " ", ", "))
	}
	return fmt.Sprint(v)
}
