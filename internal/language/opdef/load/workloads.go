package load

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/names"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// workloads checks the named calls, and flops, which says what each costs.
func (c *checker) workloads() {
	c.flops()
	for _, name := range keys(c.raw.Workloads) {
		path := tomldoc.Join("workloads", name)
		if !names.IsIdentifier(name) {
			c.diags.Add(c.doc.KeyAt(path), code.Name, names.FormHint(name, "a name has letters, digits and single underscores between them"), "%q is not a name", name)
		}
		w := opdef.Workload{Name: name, Sizes: map[string]int64{}, Elements: map[string][]int64{}, Lengths: map[string]int{}, DTypes: map[string]string{}, Attrs: map[string]any{}}
		complete := true
		for _, key := range keys(c.raw.Workloads[name]) {
			complete = c.workloadKey(&w, tomldoc.Join(path, key), key, c.raw.Workloads[name][key]) && complete
		}
		if complete && !c.open {
			c.workloadFits(&w, path)
		}
		c.op.Workloads = append(c.op.Workloads, w)
	}
}

// flops checks how many operations a call needs.
func (c *checker) flops() {
	if !c.doc.Given("flops") {
		return
	}
	e, err := expr.Parse(c.raw.Flops)
	if err != nil {
		c.syntax("flops", code.Expr, err)
		return
	}
	if c.op.HasBatch() {
		c.sizes[opdef.Batch] = true
		defer delete(c.sizes, opdef.Batch)
	}
	if c.integer(e, use{path: "flops"}) {
		c.op.Flops = c.expand(e)
	}
}

// workloadKey reads one value of a workload: a size, leading dims, a dtype, a value of an attribute, or false for an input
// that is left out.
func (c *checker) workloadKey(w *opdef.Workload, path, key string, value any) bool {
	known := c.names[key]
	input := c.op.InputIndex(key)
	switch {
	case c.op.HasBatch() && key == c.op.Lead():
		list, ok := raw.Convert(&opdef.Attr{Type: "int[]", Len: -1, Min: int64(0)}, value)
		w.Batch, _ = list.([]int64)
		return c.workloadValue(path, key, "a list of sizes", value, ok)
	case input >= 0 && c.op.Inputs[input].List:
		return c.workloadLength(w, path, key, value)
	case c.perElement[key]:
		list, ok := raw.Convert(&opdef.Attr{Type: "int[]", Len: -1, Min: int64(0)}, value)
		w.Elements[key], _ = list.([]int64)
		return c.workloadValue(path, key, "a list with a size for each array", value, ok && len(w.Elements[key]) > 0)
	case c.sizes[key]:
		n, ok := value.(int64)
		w.Sizes[key] = n
		return c.workloadValue(path, key, "a size", value, ok && n >= 0)
	case known.kind == kindVar:
		short, ok := value.(string)
		w.DTypes[key] = short
		return c.workloadValue(path, key, diag.OneOf(c.raw.DTypes[key]), value, ok && slices.Contains(c.raw.DTypes[key], short))
	case known.attr != nil && known.attr.Type != "dtype":
		converted, ok := raw.Convert(known.attr, value)
		w.Attrs[key] = converted
		if mistake := raw.Outside(known.attr, converted); ok && mistake != "" {
			c.report(path, code.Workload, "", "%s: %s", key, mistake)
			return false
		}
		return c.workloadValue(path, key, "a value of type "+known.attr.Type, value, ok)
	case input >= 0 && c.op.Inputs[input].Optional:
		given, ok := value.(bool)
		w.Without = append(w.Without, key)
		return c.workloadValue(path, key, "false, for an input that is left out", value, ok && !given)
	}
	hint := diag.DidYouMean(key, append(keys(c.sizes), keys(c.names)...), "name a size, an attribute, a dtype variable or an optional input")
	c.diags.Add(c.doc.KeyAt(path), code.Workload, hint, "%s is no part of a workload", key)
	return false
}

func (c *checker) workloadValue(path, key, want string, value any, ok bool) bool {
	if !ok {
		c.report(path, code.Workload, "", "%s: expected %s, got %s", key, want, tomldoc.Show(value))
	}
	return ok
}

// workloadFits asks for all sizes, and holds them against the conditions.
func (c *checker) workloadFits(w *opdef.Workload, path string) {
	for _, a := range c.op.Attrs {
		if _, given := w.Attrs[a.Name]; !given && a.Default != nil && a.Type != "dtype" {
			w.Attrs[a.Name] = a.Default
		}
	}
	for _, a := range c.op.Attrs {
		if _, given := w.Attrs[a.Name]; !given && !a.HasDefault && a.Type != "dtype" {
			c.report(path, code.Workload, "", "the workload has no value for the attribute %s", a.Name)
			return
		}
	}
	if c.op.HasBatch() && w.Batch == nil {
		c.report(path, code.Workload, fmt.Sprintf("for example %q = [2, 3]", c.op.Lead()), "the workload has no leading dims")
		return
	}
	if !c.workloadLists(w, path) {
		return
	}
	for _, size := range keys(c.sizes) {
		only := c.fromOptional[size]
		_, given := w.Sizes[size]
		if _, many := w.Elements[size]; !given && !many && !slices.Contains(w.Without, only) {
			c.report(path, code.Workload, "", "the workload has no value for the size %s", size)
			return
		}
	}
	c.workloadAbsent(w, path)
	for _, e := range c.op.Requires {
		if c.expand(e).EvalCondition(w.DTypes, w) == expr.KnownFalse {
			c.report(path, code.Workload, "", "the workload breaks %s", e.Text)
		}
	}
}

// workloadAbsent binds the dtype variables of inputs that a workload leaves out, which it cannot choose.
func (c *checker) workloadAbsent(w *opdef.Workload, path string) {
	for _, v := range c.op.DTypes {
		if in := c.op.OptionalDType(v.Name); in == "" || !slices.Contains(w.Without, in) {
			continue
		}
		if chosen := w.DTypes[v.Name]; chosen != "" && chosen != v.OneOf[0] {
			c.report(path, code.Workload, "leave it out", "the workload has a dtype %s of the input that it leaves out", v.Name)
		}
		w.DTypes[v.Name] = v.OneOf[0]
	}
}
