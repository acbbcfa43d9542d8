package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// element is the one of a result that a failure is about.
type element struct {
	// Slot is its place among those of the op, Output among the results of the call.
	Slot   int     `json:"-"`
	Output int     `json:"output"`
	Name   string  `json:"name"`
	Index  []int64 `json:"index"`
	Want   string  `json:"want"`
}

// reproduced writes a script that repeats a failing call, or the transformation that was sent last, and returns the line
// that points there. Where no call failed, or nothing can be written, it gives "".
func (t *T) reproduced(call *Call, at *element, name, text string) string {
	if t.silent || t.env.cases == "" || call == nil && t.latest == nil {
		return ""
	}
	base := caseName(t.Op.Name, t.Caller.Name(), name)
	base = unused(filepath.Join(t.env.cases, base[:min(len(base), 120)]))
	files, err := t.reproducer(call, at, text)
	if err != nil {
		return ""
	}
	for suffix, data := range files {
		if err := os.WriteFile(base+suffix, data, 0o644); err != nil {
			return ""
		}
	}
	if r := t.row(); r.reproducer == "" {
		r.reproducer = filepath.ToSlash(relative(filepath.Dir(t.env.cases), base+".py"))
	}
	return "\n  repeat with: " + t.env.python() + " " + relative(t.env.project.Dir, base+".py")
}

// caseName is the name of a script, but for its suffix.
func caseName(op, caller, name string) string {
	return strings.Trim(notName.ReplaceAllString(op+"-"+caller+"-"+name, "-"), "-")
}

// unused is the base of a script that is not there yet: two checks may fail with calls of one name. It claims the name, since
// other jobs look for one, too.
func unused(base string) string {
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
func (t *T) reproducer(call *Call, at *element, text string) (map[string][]byte, error) {
	if call == nil {
		request, blobs := transformRequest(t.latest)
		return t.env.recorded(t.Caller.Name(), request, blobs, nil, text)
	}
	call = call.clone()
	if call.Kernel == "" {
		call.Kernel = t.forced()
	}
	if at != nil {
		list := expects(call, t.Caller)
		at.Output = slices.IndexFunc(list, func(s slot) bool { return s.Arg == slots(t.Op)[at.Slot].Arg })
	}
	d := abilitiesOf(t.Caller).Script
	plain := call.Probe == "" && call.Mode == "eager" && call.Extra == nil && len(call.Inputs) <= len(call.Op.Inputs)
	if d == nil || !plain || t.env.replay.only {
		request, blobs := pack(t.Caller.Name(), call)
		return t.env.recorded(t.Caller.Name(), request, blobs, at, text)
	}
	arguments := argumentsOf(call)
	var data bytes.Buffer
	if err := writeMemory(&data, arguments); err != nil {
		return nil, err
	}
	return map[string][]byte{".safetensors": data.Bytes(), ".py": []byte(t.script(d, call, at, text))}, nil
}

func relative(dir, path string) string {
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

func argumentsOf(call *Call) []argument {
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
		if x, ok := a.value.(*Tensor); ok {
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

// dialect is how scripts make arrays in a framework: the lines that import it, the expressions for an array and for a dtype.
type dialect struct{ Imports, Array, DType string }

// script is the call as a user would write it. At the end it prints the element that is wrong.
func (t *T) script(d *dialect, call *Call, at *element, text string) string {
	collection := t.env.project.Manifest.Name
	var b strings.Builder
	fmt.Fprintf(&b, scriptHead, commentOf(text), t.env.folders(), d.Imports, collection, t.Caller.Name(), d.Array)
	if call.Kernel != "" {
		fmt.Fprintf(&b, scriptForce, collection, call.Op.Name, call.Kernel)
	}
	for _, a := range argumentsOf(call) {
		fmt.Fprintf(&b, "%s = %s\n", a.name, d.argument(a))
		if x, ok := a.value.(*Tensor); ok && x.ReadOnly {
			fmt.Fprintf(&b, "%s.flags.writeable = False\n", a.name)
		}
	}
	fmt.Fprintf(&b, "result = ops.%s(%s)\nprint(result)\n", call.Op.Name, strings.Join(parameters(call), ", "))
	if at != nil {
		picked := "result"
		if len(expects(call, t.Caller)) > 1 {
			picked = fmt.Sprintf("result[%d]", at.Output)
		}
		index := strings.Trim(list(at.Index), "[]")
		if index == "" {
			index = "()"
		}
		fmt.Fprintf(&b, "print(%q, %s[%s], %q)\n", at.Name+list(at.Index)+": got", picked, index, "want "+at.Want)
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

// argument is the expression that makes an argument; strides and offset are in bytes.
func (d *dialect) argument(a argument) string {
	x, ok := a.value.(*Tensor)
	if !ok {
		return literal(a.value)
	}
	size := ndarray.ItemSize(x.DType)
	strides := make([]int64, len(x.Strides))
	for i, s := range x.Strides {
		strides[i] = s * size
	}
	return fmt.Sprintf("array(%q, %s, %s, %s, %d)",
		a.name, d.dtypeName(x.DType), list(x.Shape), list(strides), x.Offset*size)
}

func (d *dialect) dtypeName(t dtype.DType) string {
	name := t.Long
	if strings.HasPrefix(d.DType, "np.") {
		if name = strconv.Quote(name); t.View != "" {
			name = "ml_dtypes." + t.Long
		}
	}
	return fmt.Sprintf(d.DType, name)
}

// parameters are the arguments between the parentheses of the call.
func parameters(call *Call) []string {
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
func outNames(call *Call) []string {
	var names []string
	if call.Out == nil || mutates(call.Op) {
		return nil
	}
	for _, i := range returned(call.Op) {
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
	case DType:
		return strconv.Quote(string(v))
	case []int64:
		return list(v)
	case float64:
		return `float("` + formatFloat(v) + `")`
	case Wrong:
		return fmt.Sprintf("[float(v) for v in %s]", strings.ReplaceAll(fmt.Sprint([]float64(v)), " ", ", "))
	}
	return fmt.Sprint(v)
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
