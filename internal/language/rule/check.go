package rule

import (
	"errors"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
)

// Value is an array argument as the rules see it. The zero value is an absent argument.
type Value struct {
	Given bool
	// NotArray is the Python type name of a value that is not an array, and Number the value, a bool, int64 or float64, if it is one.
	NotArray string
	Number   any
	// DType is a long name, Device a name such as "cpu".
	DType, Device string
	Shape         []int64
	// Strides are in elements; nil stands for dense memory. ReadOnly memory cannot be written.
	Strides  []int64
	ReadOnly bool
	// Arrays of one Buffer may overlap; this one begins Offset elements after the buffer. One without lies apart.
	Buffer string
	Offset int64
}

// NotAttr is an attr value of a type that no attr has; its text is the Python type name.
type NotAttr string

// Call is one call of an op. Attrs holds int64, float64, bool, string, []int64 or NotAttr; an absent attr takes its
// default. Out is nil, or holds every output that is given; Scratch holds the scratch tensors that are given.
type Call struct {
	// Framework is the array type in messages, such as "numpy.ndarray".
	Framework string
	Inputs    map[string]Value
	Attrs     map[string]any
	Out       map[string]Value
	Scratch   map[string]Value
	// Bare is a call of the library itself: no attr tells a dtype, the outputs carry it; and no input is copied.
	Bare bool
}

// Error is the exception that an invalid call must raise: its class and its text. It describes somebody else's error and is
// none of this program, so that it does not implement Go's error.
type Error struct{ Class, Text string }

// Check returns the error that a call must raise, which is that of the first rule in the documented order that it breaks. It
// is nil for a valid call.
func Check(op *opdef.Op, c Call) *Error { return Compile(op).Check(c) }

// Check is the Go printer of the rules: what a call of the compiled op must raise.
func (p *Program) Check(c Call) *Error {
	_, err := p.Evaluate(c)
	return err
}

// Evaluate is Check, with what the names of expressions stand for in a valid call.
func (p *Program) Evaluate(c Call) (expr.Env, *Error) {
	e := &evaluation{program: p, call: c, sizes: map[string]int64{}, dtypes: map[string]string{}, leads: map[int][]int64{}, arrays: map[string]Value{}}
	if err := e.run(); err != nil {
		var f *violation
		if errors.As(err, &f) {
			return e, &Error{f.class, p.Op.Name + ": " + f.text}
		}
		return e, &Error{"ValueError", p.Op.Name + ": " + noValue(err)}
	}
	return e, nil
}

// noValue says why a size has none.
func noValue(err error) string {
	switch {
	case errors.Is(err, expr.ErrOverflow):
		return "a size does not fit in 64 bits"
	case errors.Is(err, expr.ErrNotInteger):
		return "a size is not an integer"
	}
	return "division by zero in a size"
}

type violation struct{ class, text string }

func (f *violation) Error() string { return f.text }

func expected(class, arg, format string, args ...any) error {
	return &violation{class, arg + ": expected " + fmt.Sprintf(format, args...)}
}

// evaluation is the state of one Check.
type evaluation struct {
	program *Program
	call    Call
	sizes   map[string]int64
	dtypes  map[string]string
	batch   []int64
	// arrays are what numbers stand for.
	arrays map[string]Value
	// leads are the leading dims of arrays number 0, 1, ... of lists, where they are their own.
	leads map[int][]int64
}

func (e *evaluation) run() error {
	for _, a := range e.program.Op.Inputs {
		if !a.Optional && !e.call.Inputs[a.Name].Given {
			return &violation{"TypeError", fmt.Sprintf("missing required argument '%s'", a.Name)}
		}
	}
	for _, r := range e.program.Rules {
		if r.If != "" && !e.holds(r.If) {
			if r.Kind == DTypeIn && r.Var != "" {
				e.dtypes[r.Var] = r.Allowed[0]
			}
			continue
		}
		if r.When != nil {
			holds, err := r.When.Eval(e)
			if errors.Is(err, expr.ErrZeroDivision) || errors.Is(err, expr.ErrOverflow) || errors.Is(err, expr.ErrNotInteger) {
				return err
			}
			if err != nil || holds == 0 {
				continue
			}
		}
		if err := e.rule(r); err != nil {
			return err
		}
	}
	return e.countable()
}

func (e *evaluation) rule(r Rule) error {
	v := e.call.Inputs[r.Arg]
	if array, isNumber := e.arrays[r.Arg]; isNumber {
		v = array
	}
	switch r.Kind {
	case Array:
		return e.isArray(r, v)
	case AttrType, AttrMin, AttrMax, AttrOneOf:
		return e.attrRule(r)
	case Device:
		if want := e.call.Inputs[r.Other].Device; v.Device != want {
			return expected("ValueError", r.Arg, "device %s (as %s), got %s", want, r.Other, v.Device)
		}
	case DTypeIn:
		if !slices.Contains(r.Allowed, v.DType) {
			return expected("TypeError", r.Arg, "dtype %s, got %s", Or(r.Allowed), v.DType)
		}
		e.dtypes[r.Var] = v.DType
	case DTypeAs:
		if want, other := e.sameDType(r); v.DType != want {
			return expected("TypeError", r.Arg, "dtype %s (as %s), got %s", want, other, v.DType)
		}
	case Rank:
		return rank(r, v)
	case BatchBind, BatchAs, BatchJoin, SizeBind, SizeIs:
		return e.sizeRule(r, v)
	case Let, Require, OutSize:
		return e.condition(r)
	case Carried:
		if i := slices.IndexFunc(e.program.Op.Outputs, func(a opdef.Arg) bool { return a.Name == r.Arg }); e.call.Bare && e.call.Out[r.Arg].Given {
			carrier := &e.program.Op.Outputs[i]
			return e.carried(carrier, e.call.Out[r.Arg], carrier)
		}
		return nil
	}
	return e.written(r, v)
}

// written checks what the op writes: inputs that it overwrites, and outputs that were given.
func (e *evaluation) written(r Rule, v Value) error {
	switch r.Kind {
	case Layout:
		if r.Mutated {
			return overwritable(r.Arg, v, r.Stride)
		}
		if e.call.Bare {
			return layout(r.Arg, v, r.Stride)
		}
	case Distinct:
		if !v.memory().distinct() {
			return expected("ValueError", r.Arg, "memory without overlap, got strides %s", List(v.Strides))
		}
	case Presence:
		return e.presence(r)
	case Output:
		return e.output(r)
	case Scratch:
		return e.scratch(r)
	case Apart:
		return e.apart(r.Arg, v, r.Others)
	}
	return nil
}

func rank(r Rule, v Value) error {
	what := fmt.Sprintf("%d dimension", r.Rank)
	if r.Rank != 1 {
		what += "s"
	}
	if r.AtLeast && len(v.Shape) < r.Rank {
		return expected("ValueError", r.Arg, "at least %s, got shape %s", what, List(v.Shape))
	}
	if !r.AtLeast && len(v.Shape) != r.Rank {
		return expected("ValueError", r.Arg, "%s, got shape %s", what, List(v.Shape))
	}
	return nil
}

func (e *evaluation) sizeRule(r Rule, v Value) error {
	leading := v.Shape[:max(len(v.Shape)-r.Rank, 0)]
	switch r.Kind {
	case BatchBind:
		if r.Own {
			e.leads[r.At] = leading
		} else {
			e.batch = leading
		}
		return nil
	case BatchAs:
		want := e.batch
		if r.Own {
			want = e.leads[r.At]
		}
		if !slices.Equal(leading, want) {
			return expected("ValueError", r.Arg, "leading dimensions %s (as %s), got shape %s", List(want), r.Other, List(v.Shape))
		}
		return nil
	case BatchJoin:
		return e.join(r, v, leading)
	}
	dim := r.Dim
	if dim < 0 {
		dim += len(v.Shape)
	}
	if r.Kind == SizeBind {
		return e.solve(r, v, dim)
	}
	want, err := r.Expr.Eval(e)
	if err != nil || v.Shape[dim] == want {
		return err
	}
	because := ""
	if len(r.Why) > 0 {
		because = " (" + e.because(r.Why) + ")"
	}
	return expected("ValueError", r.Arg, "dimension %d to be %d%s, got shape %s", dim, want, because, List(v.Shape))
}

func (e *evaluation) solve(r Rule, v Value, dim int) error {
	coef, err := r.Coef.Eval(e)
	if err != nil {
		return err
	}
	constant, err := r.Const.Eval(e)
	if err != nil {
		return err
	}
	rest := v.Shape[dim] - constant
	if constant < 0 && rest < 0 {
		return expr.ErrOverflow
	}
	if coef == 0 || rest%coef != 0 || rest/coef < 0 {
		return expected("ValueError", r.Arg, "dimension %d to be of the form %s, got shape %s", dim, r.Form, List(v.Shape))
	}
	e.sizes[r.Symbol] = rest / coef
	return nil
}

func (e *evaluation) condition(r Rule) error {
	value, err := r.Expr.Eval(e)
	if err != nil {
		return err
	}
	switch {
	case r.Kind == Let:
		e.sizes[r.Symbol] = value
	case r.Kind == Require && value == 0:
		text := fmt.Sprintf("expected %s, got %s", r.Form, e.because(r.Why))
		if r.Hint != "" {
			text += ": " + r.Hint
		}
		return &violation{"ValueError", text}
	case r.Kind == OutSize && value < 0:
		return &violation{"ValueError", fmt.Sprintf("%s would have a negative dimension: %s = %d", r.What, r.Form, value)}
	}
	return nil
}
