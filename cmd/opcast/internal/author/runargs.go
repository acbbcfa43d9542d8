package author

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

// parseRequest reads the words of a command line that describe a call: INPUT=SHAPE[:DTYPE] and ATTR=VALUE.
func parseRequest(op *opdef.Op, words []string, flags runFlags) (conformance.TrialRequest, error) {
	w := conformance.TrialRequest{
		Shapes: map[string][]int64{}, DTypes: map[string]string{}, Attrs: map[string]any{},
		Kernel: flags.kernel, Device: flags.device,
	}
	if err := flags.useWorkload(op, &w); err != nil {
		return w, err
	}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return w, app.Usage("expected INPUT=SHAPE[:DTYPE] or ATTR=VALUE, got %q", word)
		}
		var err error
		if i := op.InputIndex(name); i >= 0 {
			err = setInputs(&w, &op.Inputs[i], value)
		} else if i := slices.IndexFunc(op.Attrs, func(a opdef.Attr) bool { return a.Name == name }); i >= 0 {
			err = setAttr(&w, &op.Attrs[i], value)
		} else {
			err = app.Usage("%s: no input or attribute %q%s", op.Name, name, nearestArgument(op, name))
		}
		if err != nil {
			return w, err
		}
	}
	return w, nil
}

func nearestArgument(op *opdef.Op, name string) string {
	names := opdef.ArgNames(op.Inputs)
	for _, a := range op.Attrs {
		names = append(names, a.Name)
	}
	if near := diag.Nearest(name, names); near != "" {
		return " (did you mean " + strconv.Quote(near) + "?)"
	}
	return " (there are " + strings.Join(names, ", ") + ")"
}

// setInputs reads the shape of an input, or those of the arrays of a list: "128x4096,7:bf16".
func setInputs(w *conformance.TrialRequest, in *opdef.Arg, value string) error {
	if !in.List {
		return setInput(w, in, value)
	}
	shapes, name, given := strings.Cut(value, ":")
	for i, shape := range strings.Split(shapes, ",") {
		element := *in
		element.Name = opdef.ElementName(in.Name, i)
		if given {
			shape += ":" + name
		}
		if err := setInput(w, &element, shape); err != nil {
			return err
		}
	}
	return nil
}

// instance is the op for lists of the wanted lengths: as many arrays as have a shape, else two.
func instance(op *opdef.Op, w *conformance.TrialRequest) (*opdef.Op, error) {
	if !op.HasLists() {
		return op, nil
	}
	wanted := map[string]int{}
	for _, list := range op.Lists() {
		for w.Names(opdef.ElementName(list, wanted[list])) {
			wanted[list]++
		}
	}
	lengths := map[string]int{}
	for _, list := range op.Lists() {
		first := op.Partner(list)
		switch n := wanted[list]; {
		case n > 0 && lengths[first] > 0 && n != lengths[first]:
			return nil, app.Usage("%s: %s: expected %d shapes (as %s), got %d", op.Name, list, lengths[first], first, n)
		case n > 0:
			lengths[first] = n
		}
	}
	return op.Instance(func(list string) int { return cmp.Or(lengths[list], conformance.ListLength) }), nil
}

// setInput reads "128x4096:bf16", "128x4096", ":bf16" or "none". The shape of a number is "()".
func setInput(w *conformance.TrialRequest, in *opdef.Arg, value string) error {
	if value == "none" {
		if !in.Optional {
			return app.Usage("%s: expected a shape, got none: it is not optional", in.Name)
		}
		w.Without = append(w.Without, in.Name)
		delete(w.Shapes, in.Name)
		delete(w.DTypes, in.Name)
		return nil
	}
	w.Without = slices.DeleteFunc(w.Without, func(name string) bool { return name == in.Name })
	shape, name, given := strings.Cut(value, ":")
	if given {
		d, known := dtype.LookupAny(name)
		if !known {
			return app.Usage("%s: unknown dtype %q", in.Name, name)
		}
		w.DTypes[in.Name] = d.Short
	}
	if shape == "" {
		return nil
	}
	sizes := []int64{}
	if shape != "()" {
		for _, word := range strings.Split(shape, "x") {
			n, err := strconv.ParseInt(word, 10, 64)
			if err != nil || n < 0 {
				return app.Usage("%s: expected a shape such as 128x4096, got %q", in.Name, shape)
			}
			sizes = append(sizes, n)
		}
	}
	w.Shapes[in.Name] = sizes
	return nil
}

// setAttr reads a value, or "none": then the attribute is not given, whatever a workload says, unless "none" is one of its words.
func setAttr(w *conformance.TrialRequest, a *opdef.Attr, text string) (err error) {
	word := a.Type == "str" && (len(a.OneOf) == 0 || slices.Contains(a.OneOf, text))
	switch {
	case text != "none" || word:
		w.Attrs[a.Name], err = attrValue(a, text)
	case !a.Optional && !a.HasDefault:
		err = app.Usage("%s: expected a value of type %s, got none: it has no default", a.Name, a.Type)
	default:
		delete(w.Attrs, a.Name)
	}
	return err
}

// attrValue reads an attr as a value of its type; lists are written "2,3".
func attrValue(a *opdef.Attr, text string) (any, error) {
	var v any
	var err error
	switch {
	case a.Type == "str":
		return text, nil
	case a.Type == "dtype":
		d, known := dtype.LookupAny(text)
		if !known {
			return nil, app.Usage("%s: unknown dtype %q", a.Name, text)
		}
		return conformance.DType(d.Long), nil
	case a.Len != 0:
		var list []int64
		list, err = integers(text)
		if len(list) == 1 && a.Len > 1 {
			list = slices.Repeat(list, a.Len)
		}
		v = list
	case a.Type == "int":
		v, err = strconv.ParseInt(text, 10, 64)
	case a.Type == "float":
		v, err = strconv.ParseFloat(text, 64)
	case a.Type == "bool":
		v, err = strconv.ParseBool(text)
	}
	if err != nil {
		return nil, app.Usage("%s: expected a value of type %s, got %q", a.Name, a.Type, text)
	}
	return v, nil
}

func integers(text string) ([]int64, error) {
	list := []int64{}
	if strings.TrimSpace(text) == "" {
		return list, nil
	}
	for _, word := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// useWorkload begins with the shapes, dtypes and attributes of a named call, if the flags name one. The words of the
// command line change them.
func (f runFlags) useWorkload(op *opdef.Op, w *conformance.TrialRequest) error {
	if f.workload == "" {
		return nil
	}
	call, ok := workload.ByName(op, f.workload)
	if !ok {
		var names []string
		for _, c := range workload.Calls(op) {
			names = append(names, c.Name)
		}
		there := "it has none"
		if len(names) > 0 {
			there = diag.DidYouMean(f.workload, names, "there are "+strings.Join(names, ", "))
		}
		return app.Usage("--workload: %s has no workload %q (%s)", op.Name, f.workload, there)
	}
	return w.Take(call)
}
