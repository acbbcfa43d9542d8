package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// init is the source of a function that makes inputs whose contents the op restricts; "" if it restricts none.
func (e *exporter) init() string {
	restricted := func(a opdef.Arg) bool { return a.Min != nil || a.Max != nil }
	if !e.op.Defines("samples") && !slices.ContainsFunc(e.op.Inputs, restricted) {
		return ""
	}
	var b strings.Builder
	b.WriteString(names)
	if e.op.Defines("samples") {
		b.WriteString(strings.TrimSpace(e.op.Module) + "\n\n\n")
	}
	fmt.Fprintf(&b, "def init(*, %s, device=\"cpu\", seed=0):\n    rng = np.random.default_rng(seed)\n%s    made = {\n", e.axisParameters(), e.attrsInPython())
	for _, in := range e.op.Inputs {
		fmt.Fprintf(&b, "        %q: %s,\n", in.Name, contents(in, shapeText(e.def.Inputs.By[in.Name].Shape)))
	}
	b.WriteString("    }\n")
	if e.op.Defines("samples") {
		known := slices.Concat(e.def.Axes.Names, e.op.AttrNames())
		for _, l := range e.op.Lets {
			known = append(known, l.Name)
		}
		for name := range e.inverses() {
			known = append(known, name)
		}
		slices.Sort(known)
		sizes := flashinfer.Pairs(slices.Compact(slices.DeleteFunc(known, func(name string) bool { return name == rows })))
		if e.op.HasBatch() {
			sizes += fmt.Sprintf(", %q: (%s,)", e.op.Lead(), rows)
		}
		fmt.Fprintf(&b, "    made |= samples(rng, {%s})\n", sizes)
	}
	var dtypes []string
	for _, in := range e.op.Inputs {
		dtypes = append(dtypes, fmt.Sprintf("%q: torch.%s", in.Name, e.def.Inputs.By[in.Name].DType))
	}
	fmt.Fprintf(&b, "    dtypes = {%s}\n", strings.Join(dtypes, ", "))
	b.WriteString("    return {name: torch.as_tensor(np.asarray(a)).to(dtypes[name]).to(device) for name, a in made.items()}\n")
	return b.String()
}

// axisParameters are the axes, those that are constant with their values.
func (e *exporter) axisParameters() string {
	var list []string
	for _, name := range e.def.Axes.Names {
		if n := e.def.Axes.By[name].Value; n != nil {
			name = fmt.Sprintf("%s=%d", name, *n)
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// inverses are the sizes that are no axes, since they stand in arithmetic only, as B in "B + 1": what they are of the axis.
func (e *exporter) inverses() map[string]string {
	out := map[string]string{}
	for axis, meaning := range e.meanings {
		for _, name := range meaning.Symbols() {
			coef, rest, linear := expr.Linear(meaning, name)
			if _, known := e.def.Axes.By[name]; !known && !slices.Contains(e.op.AttrNames(), name) && linear && coef.Op == expr.OpConst {
				out[name] = fmt.Sprintf("(%s - (%s)) // (%s)", axis, rest.Text, coef.Text)
			}
		}
	}
	return out
}

// attrsInPython are statements that give attributes that are no axes their defaults, or else a small value; and lets theirs.
func (e *exporter) attrsInPython() string {
	var b strings.Builder
	for i := range e.op.Attrs {
		a := &e.op.Attrs[i]
		value := python(e.fixed(a.Name))
		if a.DefaultExpr != nil {
			value = a.DefaultExpr.Text
		} else if !a.HasDefault && a.Type != "str" {
			value = map[string]string{"int": "1", "float": "1.0", "bool": "False"}[a.Type]
			if a.Min != nil && a.Type == "int" {
				value = fmt.Sprint(a.Min)
			}
		}
		if _, axis := e.def.Axes.By[a.Name]; !axis && value != "" {
			fmt.Fprintf(&b, "    %s = %s\n", a.Name, value)
		}
	}
	inverses := e.inverses()
	for _, name := range slices.Sorted(maps.Keys(inverses)) {
		fmt.Fprintf(&b, "    %s = %s\n", name, inverses[name])
	}
	for _, l := range e.op.Lets {
		if _, axis := e.def.Axes.By[l.Name]; !axis {
			fmt.Fprintf(&b, "    %s = %s\n", l.Name, l.Expr.Text)
		}
	}
	return b.String()
}

// contents are random numbers in the range of an input.
func contents(in opdef.Arg, shape string) string {
	low, high := textOr(in.Min, "0"), textOr(in.Max, "")
	integer := strings.ContainsAny(in.Type.DType[:min(1, len(in.Type.DType))], "iu") || in.Type.DType == "bool"
	var text string
	switch {
	case integer && high != "":
		text = fmt.Sprintf("rng.integers(%s, max(%s, %[1]s) + 1, %[3]s)", low, high, shape)
	case integer:
		text = fmt.Sprintf("rng.integers(%s, %[1]s + 2, %[2]s)", low, shape)
	case in.Min == nil && in.Max == nil:
		text = fmt.Sprintf("rng.standard_normal(%s)", shape)
	case high == "":
		text = fmt.Sprintf("%s + rng.random(%s)", low, shape)
	default:
		text = fmt.Sprintf("rng.uniform(%s, %s, %s)", textOr(in.Min, "-("+high+")"), high, shape)
	}
	if in.Sorted {
		text = fmt.Sprintf("np.sort(%s.reshape(-1)).reshape(%s)", text, shape)
	}
	return text
}

func textOr(e *expr.Expr, otherwise string) string {
	if e == nil {
		return otherwise
	}
	return e.Text
}

// shapeText is a shape in Python.
func shapeText(axes []string) string {
	return "(" + strings.Join(axes, ", ") + map[bool]string{true: ","}[len(axes) == 1] + ")"
}
