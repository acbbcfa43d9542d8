package opdef

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// wordPattern is the form of a dtype and of a dtype variable, right or not.
var wordPattern = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// ParseType parses "T[*, 2*D]". The dtype stays in Var, whether it is a variable or not; the error is an *expr.SyntaxError.
func ParseType(text string) (Type, error) {
	t := Type{Text: strings.Join(strings.Fields(text), " ")}
	before, _, _ := strings.Cut(text, "[")
	name := len(before)
	t.Var = strings.TrimSpace(before)
	if !wordPattern.MatchString(t.Var) {
		return t, &expr.SyntaxError{Text: fmt.Sprintf("expected a dtype, got %q", t.Var), Hint: `a type is "dtype[dims]", for example "T[*, N]"`}
	}
	if name == len(text) {
		return t, &expr.SyntaxError{Col: name, Text: `expected "[" after the dtype`, Hint: fmt.Sprintf(`write "%s[]" for a scalar`, t.Var)}
	}
	closing := strings.TrimRight(text, " \t\r\n")
	if !strings.HasSuffix(closing, "]") || len(closing) == name+1 {
		return t, &expr.SyntaxError{Col: len(text), Text: `expected "]" at the end`}
	}
	return t, parseDims(&t, text[:len(closing)-1], name+1)
}

// parseDims splits text[start:] at its outer commas and parses each part.
func parseDims(t *Type, text string, start int) error {
	if strings.TrimSpace(text[start:]) == "" {
		return nil
	}
	for depth, i := 0, start; i <= len(text); i++ {
		switch {
		case i < len(text) && strings.IndexByte("([", text[i]) >= 0:
			depth++
		case i < len(text) && strings.IndexByte(")]", text[i]) >= 0:
			depth--
		case i == len(text) || text[i] == ',' && depth == 0:
			dim, err := parseDim(text[start:i], start)
			if err != nil {
				return err
			}
			t.Dims = append(t.Dims, dim)
			start = i + 1
		}
	}
	return nil
}

func parseDim(text string, col int) (Dim, error) {
	switch strings.TrimSpace(text) {
	case "":
		return Dim{}, &expr.SyntaxError{Col: col, Text: "expected a dimension between the commas"}
	case "*":
		return Dim{Star: true}, nil
	case "...":
		return Dim{Ellipsis: true}, nil
	}
	e, err := expr.Parse(text)
	if syntax := (*expr.SyntaxError)(nil); errors.As(err, &syntax) {
		syntax.Col += col
		return Dim{}, syntax
	}
	e.Walk(func(n *expr.Expr) { n.Col += col })
	return Dim{Expr: e}, nil
}

// CPPType is a type of the generated C++, what it is for, the C++ name of its op, and the attribute whose choices it holds.
type CPPType struct{ Name, What, Op, Attr string }

// CPPTypes are the types that the generated C++ has for an op. Those of all ops stand in one namespace, with the kernels.
func (o *Op) CPPTypes() []CPPType {
	op := names.Pascal(o.Name)
	list := []CPPType{{op + "Args", "the struct of arguments of " + o.Name, op, ""}}
	if len(o.DTypes) > 0 {
		list = append(list, CPPType{op + "Typed", "the struct of arguments with types of " + o.Name, op, ""})
	}
	for _, a := range o.Attrs {
		if len(a.OneOf) > 0 {
			list = append(list, CPPType{op + names.Pascal(a.Name), fmt.Sprintf("the type of the choices of %s of %s", a.Name, o.Name), op, a.Name})
		}
	}
	return list
}

// Autocasts are what an op may do under PyTorch's autocast with the inputs of a dtype variable: cast those that differ to the
// widest of their dtypes, which is the default; all to the dtype of autocast; all to float32.
var Autocasts = []string{"widest", "lower", "float32"}

// AutocastOf is what the op does with the inputs of a variable. One that is overwritten keeps its dtype, so the others come to
// it, if they can.
func (o *Op) AutocastOf(variable string) string {
	if o.Autocast == "" || slices.ContainsFunc(o.Mutated(), func(a Arg) bool { return a.Type.Var == variable }) {
		return Autocasts[0]
	}
	return o.Autocast
}

// Sharing are the numbers of the inputs of a dtype variable.
func (o *Op) Sharing(variable string) (places []int) {
	for i := range o.Inputs {
		if o.Inputs[i].Type.Var == variable {
			places = append(places, i)
		}
	}
	return places
}

// OptionalDType is the name of the optional input that sets a dtype variable: no other argument has the variable, except results that
// exist only with that input. It is "" where there is none. If the input is left out, conditions and kernels see the variable's first dtype.
func (o *Op) OptionalDType(variable string) string {
	places := o.Sharing(variable)
	if len(places) != 1 || !o.Inputs[places[0]].Optional {
		return ""
	}
	name := o.Inputs[places[0]].Name
	elsewhere := func(a Arg) bool { return a.Type.Var == variable && a.PresentIf != name }
	if slices.ContainsFunc(o.Outputs, elsewhere) || slices.ContainsFunc(o.Scratch, elsewhere) {
		return ""
	}
	if slices.ContainsFunc(o.Attrs, func(a Attr) bool { return a.Binds == variable }) {
		return ""
	}
	return name
}

// TakesNumber says whether a call may have a number in the place of an input: it has no dims and is only read, and the device and the
// dtypes of the results are known without it; its own are all floats, all integers or bool. A number has the dtype of the input, and the
// first one that is allowed if that is a variable of its own.
func (o *Op) TakesNumber(in *Arg) bool {
	i := o.InputIndex(in.Name)
	if i < 1 || len(in.Type.Dims) > 0 || in.Mutated || in.List || in.In != "" || !o.isNumber(in.Type) {
		return false
	}
	if slices.ContainsFunc(o.Attrs, func(a Attr) bool { return a.Binds != "" && a.Binds == in.Type.Var }) {
		return false
	}
	giver := o.NumberGiver(in)
	if giver == nil {
		depends := func(a Arg) bool { return a.Type.Var == in.Type.Var && a.Type.Var != "" }
		return !slices.ContainsFunc(slices.Concat(o.Outputs, o.Scratch), depends)
	}
	return o.InputIndex(giver.Name) < i && !giver.Optional
}

// NumberGiver is the input from which a number in the place of another has its dtype: the first one with the same variable that is always
// an array. It is nil where there is none, and for a dtype of the input's own.
func (o *Op) NumberGiver(in *Arg) *Arg {
	if in.Type.Var == "" {
		return nil
	}
	for _, k := range o.Sharing(in.Type.Var) {
		if other := &o.Inputs[k]; k == 0 || len(other.Type.Dims) > 0 || other.Mutated || other.List {
			return other
		}
	}
	return nil
}

// HasNumbers says whether some input may be a number.
func (o *Op) HasNumbers() bool {
	return slices.ContainsFunc(o.Inputs, func(in Arg) bool { return o.TakesNumber(&in) })
}

// NumberType is the type in Python of a number in the place of an input: float, int or bool.
func (o *Op) NumberType(in *Arg) string { return numberType(o.allowed(in.Type)[0]) }

// numberType is the type in Python of numbers of a dtype, "" for complex ones and for a dtype that kernels cannot read.
func numberType(short string) string {
	switch d, _ := dtype.Lookup(short); {
	case d.CPP == "" || d.Complex():
		return ""
	case d.CPP == "bool":
		return "bool"
	case d.Inexact():
		return "float"
	}
	return "int"
}

// allowed are the dtypes of a type by their short names.
func (o *Op) allowed(t Type) []string {
	for _, v := range o.DTypes {
		if v.Name == t.Var {
			return v.OneOf
		}
	}
	return []string{t.DType}
}

// isNumber says whether all dtypes of a type are those of numbers of one type in Python.
func (o *Op) isNumber(t Type) bool {
	allowed := o.allowed(t)
	kind := numberType(allowed[0])
	return kind != "" && !slices.ContainsFunc(allowed, func(short string) bool { return numberType(short) != kind })
}
