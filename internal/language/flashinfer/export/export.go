// Package export makes definitions of FlashInfer of ops, and lists of their workloads.
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
	"github.com/opcast/opcast/internal/language/workload"
)

// rows is the axis that stands for leading dims.
const rows = "rows"

// exporter makes a definition of an op.
type exporter struct {
	op  *opdef.Op
	def flashinfer.Definition
	// meanings are what axes are that are computed, derived the conditions that say so.
	meanings map[string]*expr.Expr
	derived  []condition
	Fixed
}

// Fixed are the choices of one definition among those that an op leaves to its calls.
type Fixed struct {
	// Sizes are the constant axes.
	Sizes map[string]int64
	// DTypes are what dtype variables stand for, by short names; Texts the values of attributes that are texts.
	DTypes, Texts map[string]string
}

// Exported is a definition that was made of an op.
type Exported struct {
	*flashinfer.Definition
	from *exporter
}

// Export is the definition of an op as FlashInfer has them. Sizes that are not fixed are chosen by calls; a dtype variable that is not is
// the first of its dtypes, and a text its default.
func Export(op *opdef.Op, fixed Fixed) (*Exported, error) {
	e := &exporter{op: op, Fixed: fixed, meanings: map[string]*expr.Expr{}}
	e.def.Name, e.def.Description, e.def.OpType = op.Name, op.Doc, op.Family
	if e.def.OpType == "" {
		e.def.OpType = op.Name
	}
	if op.HasLists() {
		return nil, fmt.Errorf("%s: definitions of FlashInfer have no lists of arrays", op.Name)
	}
	for i := range op.Inputs {
		if err := e.tensor(&e.def.Inputs, &op.Inputs[i], op.Inputs[i].Name, ""); err != nil {
			return nil, err
		}
	}
	for i := range op.Attrs {
		if err := e.attr(&op.Attrs[i]); err != nil {
			return nil, err
		}
	}
	for _, out := range op.Outputs {
		if out.Saved {
			continue
		}
		if err := e.tensor(&e.def.Outputs, &out, out.Name, ""); err != nil {
			return nil, err
		}
	}
	for _, in := range op.Mutated() {
		if err := e.tensor(&e.def.Outputs, &in, "new_"+in.Name, in.Name); err != nil {
			return nil, err
		}
	}
	e.conditions()
	e.def.Name += e.suffix()
	e.def.Reference, e.def.Init = e.reference(), e.init()
	return &Exported{&e.def, e}, nil
}

// tensor adds an array.
func (e *exporter) tensor(to *flashinfer.Object[flashinfer.Tensor], arg *opdef.Arg, name, param string) error {
	short := e.short(arg.Type)
	d := dtype.Must(short)
	if d.Complex() || arg.Packs != "" {
		return fmt.Errorf("%s: %s: definitions of FlashInfer have no %s", e.op.Name, arg.Name, d.Long+map[bool]string{true: " that holds " + arg.Packs}[arg.Packs != ""])
	}
	t := flashinfer.Tensor{Shape: []string{}, DType: d.Long, Description: arg.Doc, Optional: arg.Optional || arg.PresentIf != "", Param: param}
	for _, dim := range arg.Type.Dims {
		t.Shape = append(t.Shape, e.axis(dim))
	}
	to.Set(name, t)
	return nil
}

// short is the dtype of a type, as in a workload with these dtypes.
func (e *exporter) short(t opdef.Type) string {
	return workload.Call{Op: e.op, Workload: &opdef.Workload{DTypes: e.DTypes}}.DType(t)
}

// Int, List, Float and Word are what is fixed: sizes, and attributes that have a default.
func (e *exporter) Int(name string) (int64, bool) {
	if n, fixed := e.Sizes[name]; fixed {
		return n, true
	}
	n, integer := e.op.AttrValue(nil, name).(int64)
	return n, integer && !e.scalar(name)
}

// List is that of an attribute.
func (e *exporter) List(name string) ([]int64, bool) {
	v, ok := e.op.AttrValue(nil, name).([]int64)
	return v, ok
}

// Float has none: they are inputs of the definition.
func (e *exporter) Float(string) (float64, bool) { return 0, false }

// Word is a text, or a dtype.
func (e *exporter) Word(name string) (string, bool) {
	if v := slices.IndexFunc(e.op.DTypes, func(v opdef.DTypeVar) bool { return v.Name == name }); v >= 0 {
		return e.short(opdef.Type{Var: name}), true
	}
	v, ok := e.fixed(name).(string)
	return v, ok
}

// fixed is the value of an attribute that calls do not choose.
func (e *exporter) fixed(name string) any {
	if text, given := e.Texts[name]; given {
		return text
	}
	return e.op.AttrValue(nil, name)
}

// scalar says whether an attribute becomes an input of the definition.
func (e *exporter) scalar(name string) bool {
	_, is := e.def.Inputs.By[name]
	return is
}

// axis is the name of a dim, which becomes an axis.
func (e *exporter) axis(dim opdef.Dim) string {
	if dim.Leading() {
		e.declare(rows, dim.Text())
		return rows
	}
	form := dim.Expr
	for form.Op == expr.OpIf {
		chosen, err := form.Args[0].Eval(e)
		if err != nil {
			break
		}
		form = form.Args[2-min(chosen, 1)]
	}
	let := slices.IndexFunc(e.op.Lets, func(l opdef.Let) bool { return form.Op == expr.OpSymbol && l.Name == form.Name })
	if form.Op == expr.OpSymbol && let < 0 {
		e.declare(form.Name, form.Name)
		return form.Name
	}
	name := "size_" + strings.Trim(noLetter.ReplaceAllString(operators.Replace(form.Text), "_"), "_")
	if let >= 0 {
		name, form = form.Name, e.op.Lets[let].Expr
	}
	if n, err := form.Eval(e); err == nil {
		e.def.Axes.Set(name, flashinfer.Axis{Type: "const", Value: &n})
		return name
	}
	e.def.Axes.Set(name, flashinfer.Axis{Type: "var"})
	e.meanings[name] = form
	e.derived = append(e.derived, condition{name + " == " + form.Text, form.Symbols()})
	return name
}

// condition is a condition of a definition, with the names in it.
type condition struct {
	text    string
	symbols []string
}

var noLetter = regexp.MustCompile(`[^A-Za-z0-9]+`)

var operators = strings.NewReplacer("+", "_plus_", "-", "_minus_", "//", "_div_", "*", "_mul_", "%", "_mod_")

// declare adds an axis, constant if it is fixed.
func (e *exporter) declare(name, size string) {
	axis := flashinfer.Axis{Type: "var"}
	if n, fixed := e.Sizes[size]; fixed {
		axis = flashinfer.Axis{Type: "const", Value: &n}
	}
	e.def.Axes.Set(name, axis)
}

// attr adds a number as an input. Texts and dtypes are fixed to their defaults.
func (e *exporter) attr(a *opdef.Attr) error {
	t := flashinfer.Tensor{DType: map[string]string{"int": "int32", "float": "float32", "bool": "bool"}[a.Type], Description: a.Doc, Optional: a.HasDefault}
	switch {
	case t.DType != "":
		e.def.Inputs.Set(a.Name, t)
	case !a.HasDefault && a.Binds == "" && e.fixed(a.Name) == nil:
		return fmt.Errorf("%s: %s: definitions of FlashInfer have no attribute of type %s, and it has no default: give it as %[2]s=VALUE", e.op.Name, a.Name, a.Type)
	}
	return nil
}

// conditions are those about axes and numbers that are inputs, in Python.
func (e *exporter) conditions() {
	for _, c := range e.op.Requires {
		if len(c.Symbols()) > 0 {
			e.derived = append(e.derived, condition{c.Text, c.Symbols()})
		}
	}
	for _, a := range e.op.Attrs {
		if a.Type == "int" && a.Min != nil {
			e.derived = append(e.derived, condition{fmt.Sprintf("%s >= %v", a.Name, a.Min), []string{a.Name}})
		}
	}
	for _, c := range e.derived {
		text := ceildiv.ReplaceAllString(c.text, "-(-($1) // ($2))")
		strange := slices.ContainsFunc(c.symbols, func(name string) bool { return e.def.Axes.By[name].Type == "" && !e.scalar(name) })
		if !strange && !ours.MatchString(text) && !slices.Contains(e.def.Constraints, text) {
			e.def.Constraints = append(e.def.Constraints, text)
		}
	}
}

var (
	ceildiv = regexp.MustCompile(`\bceildiv\(([^(),]+), ([^(),]+)\)`)
	// ours are functions of expressions that Python lacks.
	ours = regexp.MustCompile(`\b(ceildiv|is_pow2|aligned)\b`)
)

// suffix is the part of the name that tells the constants: "_n4096_k4096".
func (e *exporter) suffix() (text string) {
	for _, name := range e.def.Axes.Names {
		if n, fixed := e.Sizes[name]; fixed {
			text += "_" + strings.ToLower(name) + strconv.FormatInt(n, 10)
		}
	}
	return text
}
