// Package rule compiles a definition into the ordered list of rules that a call must keep.
//
// The list is the single source of every check. It has three printers: C++ (backend/gen), Python (_gen/checks.py) and the
// evaluator in this package, which tells the conformance suite the error that an invalid call must raise.
package rule

import (
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Kind is the kind of a rule.
type Kind int

// The kinds of rule, in the order in which a call meets them.
const (
	// Array: the required argument is given and is an array; an optional one is absent or an array.
	Array Kind = iota
	// AttrType: the attr has its declared type; AttrMin, AttrMax and AttrOneOf: its value is in range.
	AttrType
	AttrMin
	AttrMax
	AttrOneOf
	// Device: the argument is on the device of Other.
	Device
	// DTypeIn: the dtype is one of Allowed and binds Var; DTypeAs: it equals the dtype bound by Other.
	DTypeIn
	DTypeAs
	// Rank: the argument has Rank dims, or at least Rank if AtLeast.
	Rank
	// BatchBind remembers the leading dims; BatchAs compares them with those of Other; BatchJoin broadcasts them with those
	// of Others, the inputs before that have "...".
	BatchBind
	BatchAs
	BatchJoin
	// SizeBind solves Coef*Symbol + Const == size; SizeIs compares the size with Expr.
	SizeBind
	SizeIs
	// Layout: the memory is dense, or strided as Stride allows (in adaptors only if the op writes it, which then also has
	// to be allowed; they copy other inputs before). Distinct: no two elements of what the op writes lie in one place.
	Layout
	Distinct
	// Let computes a named size.
	Let
	// Carried: the output from which the library reads a dtype that an attr chooses has one of the dtypes of the
	// variable. It stands for the attr, so inputs and conditions come after.
	Carried
	// Require: the condition holds.
	Require
	// OutSize: the size of an output or scratch tensor has a value and is not negative; What says of which.
	OutSize
	// Presence: an output is given exactly when Other is, an optional input or another saved output, or when the attribute Other is true.
	Presence
	// Output: a given output has the inferred dtype and shape and dense, writable memory of its own.
	Output
	// Scratch: a given scratch tensor is what the kernel expects, as for an output; frameworks allocate it right.
	Scratch
	// Apart: what the op writes shares no memory with any of Others.
	Apart
)

// Rule is one rule of a call. Which fields are set depends on Kind.
type Rule struct {
	Kind     Kind
	Arg      string
	Optional bool
	// If is the optional input without which the rule is void; empty for rules that always hold.
	If string
	// When is the condition on attributes without which the rule is void; nil for rules that hold for all of them.
	When *expr.Expr
	// Other is the argument that Arg must agree with; Others are those of an Apart or BatchJoin rule.
	Other  string
	Others []string
	// Attr and Bound belong to the attr rules; Bound is the text of the limit.
	Attr  *opdef.Attr
	Bound string
	// Allowed are long dtype names, Var the variable that they bind.
	Allowed []string
	Var     string
	Rank    int
	AtLeast bool
	// Own says of a rule on leading dims that they are those of arrays number At of lists only.
	Own bool
	At  int
	// Dim counts from the end (negative) in types with leading dims, else from the start.
	Dim         int
	Symbol      string
	Coef, Const *expr.Expr
	Expr        *expr.Expr
	// Form is the dim or condition as the author wrote it, What the array that an OutSize rule is about: "output y".
	Form string
	What string
	// Huge: only huge inputs, or empty ones in a divisor, break the Require or OutSize rule.
	Huge bool
	// Why explains the names of Expr, and Hint says what to do where dtypes break a condition.
	Why    []Origin
	Hint   string
	Stride string
	// Mutated says that the op writes the input of a Layout rule.
	Mutated bool
	// Tensor is the output or scratch tensor of an Output, OutSize, Presence or Scratch rule.
	Tensor *opdef.Arg
}

// Origin explains a size in a message: "N = 8 of x"; Of is empty for attrs and lets.
type Origin struct{ Name, Of string }

// Program is the compiled form of one definition.
type Program struct {
	Op    *opdef.Op
	Rules []Rule
	// Origin maps a symbol to the input that binds it, DTypeOf a dtype variable to the argument that binds it
	// (an attr or an input), BatchOf names the input that binds the leading dims; with "..." it is the first of Broadcast,
	// the inputs whose leading dims are broadcast together, in the order of the rules.
	Origin    map[string]string
	DTypeOf   map[string]string
	BatchOf   string
	Broadcast []string
	// OwnBatch names the inputs that bind the leading dims of arrays number 0, 1, ... of lists, where they are their own.
	OwnBatch map[int]string
}

// Compile orders the rules of op as the documentation promises: arguments, attrs, devices, then each input's dtype,
// rank, dims and layout, then conditions, outputs.
func Compile(op *opdef.Op) *Program {
	p := &Program{Op: op, Origin: map[string]string{}, DTypeOf: map[string]string{}, OwnBatch: map[int]string{}}
	for i := range op.Inputs {
		p.add(Rule{Kind: Array, Arg: op.Inputs[i].Name, Optional: op.Inputs[i].Optional})
	}
	p.attrs()
	for i := range op.Inputs {
		if i == 0 && !op.Inputs[0].List {
			continue
		}
		p.add(Rule{Kind: Device, Arg: op.Inputs[i].Name, Other: op.Inputs[0].Name, Optional: op.Inputs[i].Optional})
	}
	p.inputs()
	for _, l := range op.Lets {
		p.add(Rule{Kind: Let, Symbol: l.Name, Expr: l.Expr})
	}
	for _, e := range op.Requires {
		p.require(e, false)
	}
	for _, e := range op.Fits() {
		p.require(e, true)
	}
	p.outputs()
	return p
}

func (p *Program) add(r Rule) {
	if r.Optional {
		r.If = r.Arg
	}
	p.Rules = append(p.Rules, r)
}

func (p *Program) attrs() {
	for i := range p.Op.Attrs {
		a := &p.Op.Attrs[i]
		p.add(Rule{Kind: AttrType, Arg: a.Name, Attr: a, Allowed: p.choices(a.Binds)})
		if a.Min != nil {
			p.add(Rule{Kind: AttrMin, Arg: a.Name, Attr: a, Bound: Number(a.Min)})
		}
		if a.Max != nil {
			p.add(Rule{Kind: AttrMax, Arg: a.Name, Attr: a, Bound: Number(a.Max)})
		}
		if allowed := slices.Concat(a.OneOf, a.Decimals()); len(allowed) > 0 { // of which one is empty
			p.add(Rule{Kind: AttrOneOf, Arg: a.Name, Attr: a, Allowed: allowed})
		}
		if a.Binds != "" {
			p.DTypeOf[a.Binds] = a.Name
		}
	}
	p.carried()
}

// choices are the dtypes that a variable may be; none for the name of no variable.
func (p *Program) choices(variable string) []string {
	for _, v := range p.Op.DTypes {
		if v.Name == variable {
			return Long(v.OneOf)
		}
	}
	return nil
}

// inputs emits dtype, rank, dims and layout of each input in order. A step on an earlier input that had to wait for a
// later symbol comes after that later input, where it is first decidable.
func (p *Program) inputs() {
	steps := p.Op.Steps
	for i := range p.Op.Inputs {
		in := &p.Op.Inputs[i]
		p.dtype(in)
		star, fixed := Trailing(in.Type)
		p.add(Rule{Kind: Rank, Arg: in.Name, Optional: in.Optional, Rank: fixed, AtLeast: star})
		for len(steps) > 0 && steps[0].Input <= i {
			p.step(steps[0])
			steps = steps[1:]
		}
		p.add(Rule{Kind: Layout, Arg: in.Name, Optional: in.Optional, Stride: in.Stride, Mutated: in.Mutated})
		if in.Mutated && in.Stride != "" {
			p.add(Rule{Kind: Distinct, Arg: in.Name, Optional: in.Optional})
		}
	}
}

func (p *Program) dtype(a *opdef.Arg) {
	r := Rule{Kind: DTypeIn, Arg: a.Name, Optional: a.Optional, Var: a.Type.Var}
	switch from, bound := p.DTypeOf[a.Type.Var]; {
	case a.Type.Var == "":
		r.Allowed = Long([]string{a.Type.DType})
	case bound:
		r.Kind, r.Other = DTypeAs, from
	default:
		r.Allowed = p.choices(a.Type.Var)
		p.DTypeOf[a.Type.Var] = a.Name
	}
	p.add(r)
}

func (p *Program) step(s opdef.Step) {
	in := &p.Op.Inputs[s.Input]
	r := Rule{Arg: in.Name, Optional: in.Optional, Symbol: s.Symbol, Coef: s.Coef, Const: s.Const, Expr: s.Expr, When: s.When}
	star, fixed := Trailing(in.Type)
	r.Rank, r.AtLeast = fixed, star
	r.Own, r.At = in.Own, in.At
	if s.Kind == opdef.BindSize || s.Kind == opdef.CheckSize {
		r.Dim = dimIndex(in.Type, s.Dim)
		r.Form = s.Form
	}
	switch s.Kind {
	case opdef.BindBatch:
		r.Kind = BatchBind
		switch {
		case in.Own:
			p.OwnBatch[in.At] = in.Name
		case p.BatchOf == "":
			p.BatchOf = in.Name
		}
		if in.Type.Lead() == opdef.Broadcast {
			if len(p.Broadcast) > 0 {
				r.Kind, r.Others = BatchJoin, slices.Clone(p.Broadcast)
			}
			p.Broadcast = append(p.Broadcast, in.Name)
		}
	case opdef.CheckBatch:
		r.Kind, r.Other = BatchAs, p.BatchOf
		if in.Own {
			r.Other = p.OwnBatch[in.At]
		}
	case opdef.BindSize:
		r.Kind = SizeBind
		p.bound(s.Symbol, in)
		r.Why = p.Why(s.Expr)
	case opdef.CheckSize:
		r.Kind, r.Why = SizeIs, p.Why(s.Expr)
	}
	p.add(r)
}

// bound remembers which input tells a size; of a list, the first array does.
func (p *Program) bound(symbol string, in *opdef.Arg) {
	name := in.Name
	if in.List {
		name = opdef.ElementName(in.Name, 0)
	}
	if from, known := p.Origin[symbol]; known && from != name {
		name = "" // it depends on attributes
	}
	p.Origin[symbol] = name
}

// Trailing reports whether a type begins with leading dims and how many dims it names after them.
func Trailing(t opdef.Type) (star bool, fixed int) {
	if t.Lead() != "" {
		return true, len(t.Dims) - 1
	}
	return false, len(t.Dims)
}

// dimIndex is the index of the j-th entry of a type in a shape: from the end where leading dims precede it.
func dimIndex(t opdef.Type, j int) int {
	if star, _ := Trailing(t); star {
		return j - len(t.Dims)
	}
	return j
}
