// Package docs prints the pages of a collection's documentation.
package docs

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/opcast/opcast/gen/internal/python"
	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/language/transform"
	"github.com/opcast/opcast/internal/language/workload"
	"github.com/opcast/opcast/internal/results/bench"
)

// Emit gives a page per op and their index.
func Emit(c *view.Collection) ([]view.Draft, error) {
	var out []view.Draft
	var measured *bench.Result
	err := c.Project.NotMeasured
	if text := c.Project.Measured; err == nil && text != nil {
		measured, err = bench.Parse(opdef.MeasuredFile, text)
	}
	if err != nil {
		return nil, fmt.Errorf("pages of ops: %w (`opcast bench --json %s` writes it)", err, opdef.MeasuredFile)
	}
	for _, op := range c.Ops {
		out = append(out, view.Draft{Template: "docs/op.md.tmpl", Path: "docs/ops/" + op.Name + ".md", Data: &page{op, measured}})
	}
	index := struct {
		Header string
		Ops    []*view.Compiled
	}{view.Header(), c.Ops}
	return append(out, view.Draft{Template: "docs/index.md.tmpl", Path: "docs/ops/index.md", Data: index}), nil
}

// page is an op as its page shows it, with the result that the project keeps; nil if it keeps none.
type page struct {
	*view.Compiled
	measured *bench.Result
}

// Call is the op's signature as users of Python type it.
func (v *page) Call() string { return python.Call(v.Op) }

// Packages lists the packages that have the op.
func (v *page) Packages() string {
	var names []string
	for _, adaptor := range v.Project.Manifest.Adaptors {
		names = append(names, fmt.Sprintf("`%s_%s`", v.Project.Manifest.Name, adaptor))
	}
	return strings.Join(names, ", ")
}

// DTypeNames maps each dtype variable to its long names.
func (v *page) DTypeNames() []string {
	var out []string
	for _, d := range v.DTypes {
		out = append(out, fmt.Sprintf("`%s` is %s.", d.Name, rule.Or(rule.Long(d.OneOf))))
	}
	return out
}

// Formula is the reference as text.
func (v *page) Formula() string {
	return strings.TrimSpace(cmp.Or(v.Reference, v.Op.Formula, v.ReferenceModule))
}

// AttrRow describes the values of an attr.
func (v *page) AttrRow(a opdef.Attr) string {
	parts := []string{a.Type}
	if len(a.OneOf) > 0 {
		parts = append(parts, rule.Quoted(a.OneOf))
	}
	if a.Min != nil {
		parts = append(parts, "at least "+rule.Number(a.Min))
	}
	if a.Max != nil {
		parts = append(parts, "at most "+rule.Number(a.Max))
	}
	if a.HasDefault {
		parts = append(parts, "default "+python.DefaultText(&a))
	}
	return view.Markdown(strings.Join(parts, ", "))
}

// Facts says how the op behaves under transformations: "**vmap**: ...".
func (v *page) Facts() []string {
	var out []string
	for _, f := range transform.Facts(v.Op) {
		out = append(out, "**"+f.Topic+"**: "+f.Text)
	}
	return out
}

// InputType is the type of an input, and what may be given in its place.
func (v *page) InputType(a opdef.Arg) string {
	switch {
	case a.List:
		return "`" + a.Type.Text + "` each"
	case v.TakesNumber(&a):
		return "`" + a.Type.Text + "` or a number"
	}
	return "`" + a.Type.Text + "`"
}

// ResultRow is the name of a result, and when it exists.
func (v *page) ResultRow(a opdef.Arg) string {
	switch {
	case v.Switch(&a) != nil:
		return "`" + a.Name + "` (if `" + a.PresentIf + "`)"
	case a.PresentIf != "":
		return "`" + a.Name + "` (with `" + a.PresentIf + "`)"
	case a.Mutated && a.Optional:
		return "`" + a.Name + "` (overwritten, if given)"
	case a.Mutated:
		return "`" + a.Name + "` (overwritten)"
	case a.Valid != "":
		return "`" + a.Name + "` (the first `" + a.Valid + "` rows)"
	}
	return "`" + a.Name + "`"
}

// KernelNames lists the variants.
func (v *page) KernelNames() string {
	var names []string
	for _, k := range v.KernelList() {
		names = append(names, k.WithValues())
	}
	return strings.Join(names, ", ")
}

// LayerRows are the layers that the definition describes, each with what it stands in for.
func (v *page) LayerRows() (rows []string) {
	for _, l := range v.Layers {
		if stands := append(strings.Fields(l.Module), l.Classes...); !l.Implied && len(stands) > 0 {
			rows = append(rows, fmt.Sprintf("`layers.%s` for `%s`", l.Name, strings.Join(stands, "`, `")))
		}
	}
	return rows
}

// WorkloadRows are the workloads: name, call, bytes and operations.
func (v *page) WorkloadRows() ([]string, error) {
	var out []string
	for _, c := range workload.Calls(v.Op) {
		bytes, err := c.Bytes()
		if err != nil {
			return nil, fmt.Errorf("%s: workload %s: %w", v.Name, c.Name, err)
		}
		operations := "unknown"
		if flops, err := c.Flops(); err == nil {
			operations = amount(flops)
		}
		out = append(out, fmt.Sprintf("`%s` | `%s` | %sB | %s", c.Name, c, amount(bytes), operations))
	}
	return out, nil
}

// Measured is the table of what was measured of the op; empty where that is nothing.
func (v *page) Measured() string {
	if v.measured == nil {
		return ""
	}
	one := *v.measured
	one.Figures, one.Rows = nil, nil
	for _, row := range v.measured.Rows {
		if row.Op == v.Name && row.Swept == nil {
			one.Rows = append(one.Rows, row)
		}
	}
	if len(one.Rows) == 0 {
		return ""
	}
	return strings.TrimSpace(one.Markdown(nil))
}

// amount is a number in powers of a thousand: "12.3 G".
func amount(n int64) string {
	value, units := float64(n), []string{"", "k", "M", "G", "T", "P", "E"}
	for value >= 1000 && len(units) > 1 {
		value, units = value/1000, units[1:]
	}
	return fmt.Sprintf("%.3g %s", value, units[0])
}
