package flashinfer

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// signature is what a definition becomes in the words of this project.
type signature struct {
	def *Definition
	// inputs, outputs and axes are their names here.
	inputs, outputs, axes map[string]string
	taken                 map[string]bool
	// sizes are what axes are: numbers, names, or expressions of other sizes.
	sizes    map[string]string
	requires []string
	// left are inputs that are left out, notes say why, and what else is.
	left, notes []string
}

var (
	word     = regexp.MustCompile(`[A-Za-z_]\w*`)
	noLetter = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// substitutes are better names than those with an ending, for names that frameworks or generated code have taken.
var substitutes = map[string]string{"input": "x", "out": "result", "batch": "rows"}

// read decides names and sizes.
func read(d *Definition) *signature {
	s := &signature{def: d.completed(), taken: map[string]bool{}, sizes: map[string]string{}}
	d = s.def
	sizes := func(name string) bool {
		return d.Inputs.By[name].Shape == nil && slices.Contains(d.axes(), name) && !d.chooses(name)
	}
	s.inputs = s.free(slices.DeleteFunc(slices.Clone(d.Inputs.Names), sizes))
	s.outputs = s.free(slices.DeleteFunc(slices.Clone(d.Outputs.Names), func(name string) bool { return s.overwritten(name) != "" }))
	s.axes = s.free(slices.DeleteFunc(d.axes(), func(name string) bool { return d.Axes.By[name].Value != nil || d.chooses(name) }))
	for _, name := range d.axes() {
		if d.chooses(name) {
			s.axes[name] = s.inputs[name]
		}
	}
	return s.constrain()
}

// free are names that arguments or sizes can have, as near to the wanted ones as that goes. Who can keep its name keeps it.
func (s *signature) free(wanted []string) map[string]string {
	out := map[string]string{}
	for _, name := range wanted {
		if names.IsIdentifier(name) && names.WhyReserved(name) == "" && !s.taken[name] {
			s.taken[name], out[name] = true, name
		}
	}
	for _, name := range wanted {
		if out[name] != "" {
			continue
		}
		free := strings.Trim(noLetter.ReplaceAllString(name, "_"), "_")
		if why := names.WhyReserved(free); why != "" && substitutes[free] != "" && !s.taken[substitutes[free]] {
			free = substitutes[free]
		} else if why != "" || !names.IsIdentifier(free) {
			free = strings.Trim("arg_"+free, "_")
		}
		for base, i := free, 2; s.taken[free]; i++ {
			free = fmt.Sprintf("%s_%d", base, i)
		}
		s.taken[free], out[name] = true, free
	}
	return out
}

// axes are the names in shapes, declared or not.
func (d *Definition) axes() []string {
	list := slices.Clone(d.Axes.Names)
	for _, tensors := range []Object[Tensor]{d.Inputs, d.Outputs} {
		for _, name := range tensors.Names {
			list = append(list, tensors.By[name].Shape...)
		}
	}
	return slices.DeleteFunc(unique(list), func(name string) bool { _, err := strconv.Atoi(name); return err == nil })
}

// unique are the elements of a list, each once, in order.
func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// attr is the type of the attribute that an input is; "" if it is none, such as a size.
func (s *signature) attr(input string) string {
	t := s.def.Inputs.By[input]
	switch d := t.DType; {
	case s.inputs[input] == "" || t.Shape != nil:
		return "" // a size, which the reference gets by its name
	case d == "bool":
		return "bool"
	case strings.HasPrefix(d, "float"), strings.HasPrefix(d, "bfloat"):
		return "float"
	case strings.HasPrefix(d, "int"), strings.HasPrefix(d, "uint"):
		return "int"
	}
	return ""
}

// typeText is the type of an array, or "" if its dtype has no name here.
func (s *signature) typeText(t Tensor) string {
	d, known := dtype.LookupAny(t.DType)
	if t.Shape == nil || !known || d.CPP == "" {
		return ""
	}
	var dims []string
	for _, axis := range t.Shape {
		dims = append(dims, s.dim(axis))
	}
	return d.Short + "[" + strings.Join(dims, ", ") + "]"
}

func (s *signature) dim(axis string) string {
	if size, known := s.sizes[axis]; known {
		return size
	}
	return axis // a number
}

// overwritten is the input that an output is written to; "" if it is an array of its own.
func (s *signature) overwritten(output string) string {
	out := s.def.Outputs.By[output]
	name := cmp.Or(out.Param, output)
	in, known := s.def.Inputs.By[name]
	if !known || in.Optional || !slices.Equal(in.Shape, out.Shape) || in.DType != out.DType {
		return ""
	}
	return name
}

// Differs says in which argument an op is not what the definition beside it says; "" if it is the same.
func (d *Definition) Differs(op *opdef.Op) string {
	s := read(d)
	var want, got []string
	for _, name := range s.def.Inputs.Names {
		t := s.def.Inputs.By[name]
		written := slices.ContainsFunc(s.def.Outputs.Names, func(output string) bool { return s.overwritten(output) == name })
		if s.typeText(t) != "" {
			want = append(want, argument(s.inputs[name], s.typeText(t), t.Optional, written))
		} else if s.attr(name) != "" {
			want = append(want, s.inputs[name]+" is "+s.attr(name))
		}
	}
	for _, name := range s.def.Outputs.Names {
		if s.overwritten(name) == "" {
			want = append(want, "result "+argument(s.outputs[name], s.typeText(s.def.Outputs.By[name]), false, false))
		}
	}
	for _, in := range op.Inputs {
		got = append(got, argument(in.Name, in.Type.Text, in.Optional, in.Mutated))
	}
	for _, a := range op.Attrs {
		got = append(got, a.Name+" is "+a.Type)
	}
	for _, out := range op.Outputs {
		got = append(got, "result "+argument(out.Name, out.Type.Text, false, false))
	}
	for _, text := range got {
		if !slices.Contains(want, text) {
			return text
		}
	}
	for _, text := range want {
		if !slices.Contains(got, text) {
			return "it lacks what the other says, " + text
		}
	}
	return ""
}

// argument is an array in words.
func argument(name, typ string, optional, overwritten bool) string {
	text := name + " is " + typ
	if optional {
		text += ", optional"
	}
	if overwritten {
		text += ", overwritten"
	}
	return text
}
