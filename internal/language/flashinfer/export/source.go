package export

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// names are what expressions and texts of definitions use.
const names = `import numpy as np
import torch

xp = np


def ceildiv(a, b):
    return -(-a // b)


`

// head begins a reference that is written for NumPy, and calls it with tensors.
const head = "import inspect\n\n" + names + `def _wide(x):
    if not isinstance(x, torch.Tensor):
        return x
    x = x.detach().cpu()
    return x.to(torch.float64).numpy() if x.is_floating_point() else x.numpy()


`

// reference is the source of the function "run", which evaluates the op's own reference in float64.
func (e *exporter) reference() string {
	var b strings.Builder
	b.WriteString(head)
	if e.op.ReferenceModule != "" {
		b.WriteString(strings.TrimSpace(e.op.ReferenceModule) + "\n")
	} else {
		fmt.Fprintf(&b, "def reference(%s):\n", strings.Join(e.op.ReferenceNames(), ", "))
		for _, line := range strings.Split(strings.Trim(e.op.Reference, "\r\n"), "\n") {
			b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
		}
	}
	fmt.Fprintf(&b, "\n\n@torch.no_grad()\ndef run(%s):\n%s", strings.Join(e.parameters(), ", "), e.sizesInPython())
	fmt.Fprintf(&b, tail, flashinfer.Pairs(e.op.ReferenceNames()), e.returned(), e.resultTypes(), e.op.Inputs[0].Name)
	return b.String()
}

// tail ends the function "run".
const tail = `    given = {%s}
    wanted = inspect.signature(reference).parameters
    if "torch" in wanted:
        given["torch"] = torch
    else:
        given = {name: _wide(value) for name, value in given.items()}
    with np.errstate(all="ignore"):
        made = reference(**{name: value for name, value in given.items() if name in wanted})
    made = made if isinstance(made, tuple) else (made,)
    made = [made[i] for i in (%s)]
    dtypes = (%s)
    made = [torch.as_tensor(np.array(m, order="C")) if isinstance(m, (np.ndarray, np.generic)) else m for m in made]
    made = [m if m is None else m.to(%s.device, d) for m, d in zip(made, dtypes)]
    return tuple(made) if len(made) > 1 else made[0]
`

// parameters are those of "run", in the order of the definition's inputs: what is optional has a default, but before what is not.
func (e *exporter) parameters() []string {
	list := slices.Clone(e.def.Inputs.Names)
	for i := len(list) - 1; i >= 0 && e.def.Inputs.By[list[i]].Optional; i-- {
		list[i] += "=" + python(e.op.AttrValue(nil, list[i]))
	}
	return list
}

// sizesInPython are the statements that compute sizes, fixed attributes, defaults that depend on sizes, and lets.
func (e *exporter) sizesInPython() string {
	var b strings.Builder
	needed := map[string]bool{}
	for _, l := range e.op.Lets {
		l.Expr.Walk(func(n *expr.Expr) { needed[n.Name] = true })
	}
	for _, a := range e.op.Attrs {
		if a.DefaultExpr != nil {
			a.DefaultExpr.Walk(func(n *expr.Expr) { needed[n.Name] = true })
		}
	}
	for _, name := range e.def.Inputs.Names {
		for i, axis := range e.def.Inputs.By[name].Shape {
			if needed[axis] && !e.def.Inputs.By[name].Optional {
				needed[axis] = false
				fmt.Fprintf(&b, "    %s = %s.shape[%d]\n", axis, name, i)
			}
		}
	}
	for _, a := range e.op.Attrs {
		switch _, input := e.def.Inputs.By[a.Name]; {
		case a.DefaultExpr != nil:
			fmt.Fprintf(&b, "    %s = %s if %[1]s is None else %[1]s\n", a.Name, a.DefaultExpr.Text)
		case a.Binds != "":
			fmt.Fprintf(&b, "    %s = %q\n", a.Name, dtype.LongName(e.short(opdef.Type{Var: a.Binds})))
		case !input:
			fmt.Fprintf(&b, "    %s = %s\n", a.Name, python(e.fixed(a.Name)))
		}
	}
	for _, l := range e.op.Lets {
		fmt.Fprintf(&b, "    %s = %s\n", l.Name, l.Expr.Text)
	}
	return b.String()
}

// returned are the places of the results that the definition has: saved ones are not among them.
func (e *exporter) returned() (list string) {
	place := 0
	for _, out := range e.op.Outputs {
		if !out.Saved {
			list += fmt.Sprintf("%d, ", place)
		}
		place++
	}
	for range e.op.Mutated() {
		list += fmt.Sprintf("%d, ", place)
		place++
	}
	return list
}

func (e *exporter) resultTypes() (list string) {
	for _, name := range e.def.Outputs.Names {
		list += "torch." + e.def.Outputs.By[name].DType + ", "
	}
	return list
}

// python is a value of an attribute in Python.
func python(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return strconv.QuoteToASCII(v)
	case []int64:
		return "[" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v), "[]")), ", ") + "]"
	case float64:
		return python64(v)
	}
	return fmt.Sprint(v)
}

var integral = regexp.MustCompile(`^-?\d+$`)

func python64(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if integral.MatchString(text) {
		text += ".0"
	}
	return text
}
