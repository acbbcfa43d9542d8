package conformance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
)

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// reproduce writes the inputs of a call and a script that repeats it, and returns the line that points there. A call that
// cannot be written down gives "".
func (t *T) reproduce(call *Call, name string) string {
	base := strings.Trim(notName.ReplaceAllString(t.Op.Name+"-"+t.Caller.Name()+"-"+name, "-"), "-")
	base = filepath.Join(t.env.cases, base[:min(len(base), 120)])
	arrays, ok := namedArrays(call)
	if !ok {
		return ""
	}
	var data bytes.Buffer
	if err := ndarray.WriteSafetensors(&data, arrays); err != nil {
		return ""
	}
	script := t.script(call, filepath.Base(base)+".safetensors")
	for path, text := range map[string][]byte{base + ".safetensors": data.Bytes(), base + ".py": []byte(script)} {
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

// namedArrays are the inputs as arrays over their whole buffers, so that strides survive.
func namedArrays(call *Call) ([]ndarray.Named, bool) {
	var out []ndarray.Named
	for i, v := range call.Inputs {
		if i >= len(call.Op.Inputs) {
			return nil, false
		}
		if x, ok := v.(*Tensor); ok {
			n := int64(len(x.Data)) / ndarray.ItemSize(x.DType)
			whole, err := ndarray.Of(x.DType, []int64{n}, x.Data)
			if err != nil {
				return nil, false
			}
			out = append(out, ndarray.Named{Name: call.Op.Inputs[i].Name, Array: whole})
		}
	}
	return out, true
}

// script is the call as a user would write it, with torch for loading, which knows every dtype.
func (t *T) script(call *Call, file string) string {
	name := t.env.project.Manifest.Name
	framework := t.Caller.Name()
	var b strings.Builder
	fmt.Fprintf(&b, "# Repeats one call of the conformance suite.\nfrom pathlib import Path\n\n")
	fmt.Fprintf(&b, "from safetensors.torch import load_file\n\n")
	convert := ""
	switch framework {
	case "torch", backendName, definitionName:
		framework = "torch"
	case "jax":
		fmt.Fprintf(&b, "import jax.numpy as jnp\n")
		convert = "jnp.from_dlpack(%s.clone())"
	default:
		fmt.Fprintf(&b, "import ml_dtypes\nimport numpy as np\nimport torch\n\n")
		fmt.Fprintf(&b, "def array(t):\n    if t.dtype is torch.bfloat16:\n")
		fmt.Fprintf(&b, "        return array(t.view(torch.uint16)).view(ml_dtypes.bfloat16)\n    return t.numpy()\n\n")
		convert = "array(%s)"
	}
	fmt.Fprintf(&b, "import %s_%s as ops\n\n", name, framework)
	fmt.Fprintf(&b, "data = load_file(Path(__file__).with_name(%q))\n", file)
	for i, v := range call.Inputs {
		b.WriteString(argument(call.Op.Inputs[i].Name, v, convert))
	}
	fmt.Fprintf(&b, "print(ops.%s(%s))\n", call.Op.Name, strings.Join(arguments(call), ", "))
	return b.String()
}

// argument is the line that makes one input.
func argument(name string, v any, convert string) string {
	switch v := v.(type) {
	case *Tensor:
		made := fmt.Sprintf("data[%q].as_strided(%s, %s, %d)", name, tuple(v.Shape), tuple(v.Strides), v.Offset)
		if convert != "" {
			made = fmt.Sprintf(convert, made)
		}
		return name + " = " + made + "\n"
	case Wrong:
		return name + " = [1.0, 2.0]\n"
	}
	return name + " = None\n"
}

func tuple(sizes []int64) string {
	s := strings.Trim(list(sizes), "[]")
	if len(sizes) == 1 {
		s += ","
	}
	return "(" + s + ")"
}

// arguments are the inputs by name and the attrs as Python literals.
func arguments(call *Call) []string {
	var out []string
	for _, in := range call.Op.Inputs {
		out = append(out, in.Name)
	}
	for _, a := range call.Op.Attrs {
		if v, given := call.Attrs[a.Name]; given {
			out = append(out, a.Name+"="+literal(v))
		}
	}
	return out
}

// literal prints an attr value as Python.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return strconv.Quote(v)
	case DType:
		return strconv.Quote(string(v))
	case []int64:
		return list(v)
	case float64:
		return "float(\"" + formatFloat(v) + "\")"
	case Wrong:
		return "[1.0, 2.0]"
	}
	return fmt.Sprint(v)
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
