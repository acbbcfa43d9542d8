package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/ndarray"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// reproduce writes the arrays of a call and a script that repeats it, and returns the line that points there. A call that
// no user could write gives "".
func (t *T) reproduce(call *Call, name string) string {
	if len(call.Inputs) > len(call.Op.Inputs) || call.Extra != nil {
		return ""
	}
	base := strings.Trim(notName.ReplaceAllString(t.Op.Name+"-"+t.Caller.Name()+"-"+name, "-"), "-")
	base = filepath.Join(t.env.cases, base[:min(len(base), 120)])
	arguments := argumentsOf(call)
	var data bytes.Buffer
	if err := writeMemory(&data, arguments); err != nil {
		return ""
	}
	for path, text := range map[string][]byte{
		base + ".safetensors": data.Bytes(), base + ".py": []byte(t.script(call, arguments)),
	} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return ""
		}
	}
	return "\n  repeat with: python " + relative(t.env.project.Dir, base+".py")
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

// scriptHead loads arrays. Its holes: comment, collection, adaptor, imports, the expression that makes an array.
const scriptHead = `# Repeats one call of the conformance suite%s.
import json
from pathlib import Path

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

// dialect is how scripts make arrays in a framework.
type dialect struct{ imports, made, dtype string }

var dialects = map[string]dialect{
	"torch": {
		"import torch", "torch.frombuffer(memory, dtype=dtype).as_strided(\n" +
			"        shape, [s // dtype.itemsize for s in strides], offset // dtype.itemsize\n    )", "torch.%s",
	},
	"jax": {
		"import jax.numpy as jnp\nimport ml_dtypes\nimport numpy as np",
		"jnp.asarray(np.ndarray(shape, dtype, memory, offset, strides))", "np.dtype(%s)",
	},
	"cupy": {
		"import cupy\nimport ml_dtypes\nimport numpy as np",
		"cupy.asarray(np.ndarray(shape, dtype, memory, offset, strides))", "np.dtype(%s)",
	},
	"numpy": {"import ml_dtypes\nimport numpy as np", "np.ndarray(shape, dtype, memory, offset, strides)", "np.dtype(%s)"},
}

// script is the call as a user would write it; the bare backend is called through NumPy.
func (t *T) script(call *Call, arguments []argument) string {
	adaptor := t.Caller.Name()
	d, known := dialects[adaptor]
	if !known {
		adaptor, d = "numpy", dialects["numpy"]
	}
	comment := ""
	if call.Probe != "" {
		comment = ", where the arrays are special: " + call.Probe
	}
	var b strings.Builder
	fmt.Fprintf(&b, scriptHead, comment, d.imports, t.env.project.Manifest.Name, adaptor, d.made)
	for _, a := range arguments {
		fmt.Fprintf(&b, "%s = %s\n", a.name, d.argument(a))
		if x, ok := a.value.(*Tensor); ok && x.ReadOnly {
			fmt.Fprintf(&b, "%s.flags.writeable = False\n", a.name)
		}
	}
	fmt.Fprintf(&b, "print(ops.%s(%s))\n", call.Op.Name, strings.Join(parameters(call), ", "))
	return b.String()
}

// argument is the expression that makes an argument; strides and offset are in bytes.
func (d dialect) argument(a argument) string {
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

func (d dialect) dtypeName(t dtype.DType) string {
	name := t.Long
	if strings.HasPrefix(d.dtype, "np.") {
		if name = strconv.Quote(name); t.View != "" {
			name = "ml_dtypes." + t.Long
		}
	}
	return fmt.Sprintf(d.dtype, name)
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
