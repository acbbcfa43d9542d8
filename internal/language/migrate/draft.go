package migrate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Project is what drafts have to know of the project that they are for.
type Project struct {
	// Namespace is that of kernels in C++.
	Namespace string
	// Devices are those of the manifest; nil for a project that begins, which has those of its drafts.
	Devices []string
	// Kind is the first free number.
	Kind int
	// Taken says whether a kernel of an op cannot be written into a file, because that holds something else; nil if none is taken.
	Taken func(file, op string) bool
}

// Draft is a definition and a kernel, which a person completes.
type Draft struct {
	Name, Device string
	// Definition and Kernel are the texts of the files.
	Definition, Kernel string
	// File is where the kernel is written.
	File string
	// Source is the author's file that the kernel needs compiled beside it, "" if none is known.
	Source string
}

// op is what becomes a draft.
type op struct {
	fn   Function
	name string
	// dtypes are the variables in order, with the dtypes of each.
	dtypes  []variable
	inputs  []*argument
	outputs []*argument
	attrs   []*attribute
	// sizes are the parameters that are sizes, by index, and the names of the sizes in order.
	sizes map[int]string
	order []string
	// members are the names in the struct of arguments, by the index of the parameter.
	members map[int]string
	// why says why the author's function cannot be called; "" if it can.
	why string
	// file is where the kernel is written.
	file string
	used map[string]bool
	// next is how many numbers are taken behind a name.
	next map[string]int
	// renamed says which names are others in the op, notes what else the draft changed or left out.
	renamed, notes []string
}

// variable is a dtype variable, what it would be called if that name were free, and its dtypes.
type variable struct {
	wanted, name string
	oneOf        []string
}

// argument is an array of a draft.
type argument struct {
	name, typ string
	param     Param
	optional  bool
	mutated   bool
	// list is the input whose list it is, for an output.
	list   bool
	listOf string
	result bool
	// guessed says that it has one of the dtypes of its pointer, since no input carries them.
	guessed bool
}

type attribute struct {
	name, typ, value, binds string
	optional                bool
}

// Drafts makes a draft of every function that can be an op, and says of the others why they are none.
func Drafts(functions []Function, files []Source, p Project) (drafts []Draft, notes []Note) {
	var ops []*op
	for _, fn := range functions {
		o := &op{fn: fn, sizes: map[int]string{}, members: map[int]string{}, used: map[string]bool{}, next: map[string]int{}}
		o.name = opName(fn.Name)
		if why := o.build(); why != "" {
			notes = append(notes, Note{fn.File, fn.Line, fmt.Sprintf("%s: not drafted: %s", fn.Name, why)})
			continue
		}
		ops = append(ops, o)
	}
	devices := p.Devices
	if devices == nil {
		devices = devicesOf(ops, func(o *op) string { return o.fn.Device })
		if slices.Contains(devices, "rocm") { // sources of one extension for GPUs are for those of one maker
			devices = slices.DeleteFunc(devices, func(d string) bool { return d == "cuda" })
		}
	}
	for _, o := range ops {
		o.callable(files, devices)
	}
	placeKernels(ops, p)
	for i, o := range ops {
		d := Draft{Name: o.name, Device: o.fn.Device, File: o.file, Kernel: o.kernel(p.Namespace), Definition: o.definition(p.Kind+i, devices)}
		if o.why == "" {
			d.Source = o.source()
		}
		for _, n := range o.told() {
			notes = append(notes, Note{o.fn.File, o.fn.Line, o.name + ": " + n})
		}
		drafts = append(drafts, d)
	}
	return drafts, notes
}

// Devices are the devices of drafts, as a manifest lists them.
func Devices(drafts []Draft) []string {
	return devicesOf(drafts, func(d Draft) string { return d.Device })
}

func devicesOf[T any](list []T, deviceOf func(T) string) (devices []string) {
	for _, device := range []string{"cpu", "cuda", "rocm"} {
		if slices.ContainsFunc(list, func(of T) bool { return deviceOf(of) == device }) {
			devices = append(devices, device)
		}
	}
	return devices
}

// longestList is how many parameters a function has at most that is drafted.
const longestList = 256

// build finds out what the function's parameters are in an op. It returns why the function is none, or "".
func (o *op) build() string {
	if n := len(o.fn.Params); n > longestList {
		return fmt.Sprintf("it has %d parameters, and a draft at most %d", n, longestList)
	}
	if why := o.returns(); why != "" {
		return why
	}
	for i, p := range o.fn.Params {
		if why := o.parameter(i, p); why != "" {
			return why
		}
	}
	if why := o.writes(); why != "" {
		return why
	}
	if len(o.inputs) == 0 && len(o.outputs) > 0 && !o.outputs[0].result {
		first := o.outputs[0]
		o.outputs, first.mutated = o.outputs[1:], true
		o.inputs = append(o.inputs, first)
		o.notes = append(o.notes, first.name+" is taken for an input that is overwritten: every array may be written, and an op has an input")
	}
	if len(o.inputs) == 0 {
		return "it takes no array, and an op has an input"
	}
	o.sortInputs()
	o.shapes()
	return ""
}

// returns takes the results. What a function on pointers returns is a status, if anything.
func (o *op) returns() string {
	if o.fn.C != nil {
		return ""
	}
	for _, r := range o.fn.Results {
		if r.Kind != Array && r.Kind != List {
			return fmt.Sprintf("it returns %s, and an op returns arrays", r.Type)
		}
	}
	return ""
}

// parameter takes one parameter.
func (o *op) parameter(i int, p Param) string {
	if p.Name == "" {
		p.Name = fmt.Sprintf("arg%d", i+1)
	}
	switch {
	case p.Kind == Stream:
	case p.Kind == Array || p.Kind == List:
		if p.Optional && outName.MatchString(p.Name) && len(o.fn.Results) > 0 {
			o.notes = append(o.notes, p.Name+" is left out: every op has out= where its framework knows that")
			return ""
		}
		a := &argument{name: o.free(p.Name), param: p, optional: p.Optional, list: p.Kind == List}
		o.members[i] = a.name
		if p.Written && !p.read && (outLike.MatchString(p.Name) || p.Pointer && !inOutLike.MatchString(p.Name)) && !a.list && !a.optional {
			o.outputs = append(o.outputs, a)
		} else {
			a.mutated = p.Written
			o.inputs = append(o.inputs, a)
		}
	case p.Kind == Other && o.fn.C != nil && strings.Count(p.Type, "*") == 1 && !strings.Contains(p.Type, "("):
		return fmt.Sprintf("its parameter %s has the type %s, and nothing says what that points to: say it by --alias %s=DTYPE", p.Name, p.Type, p.base())
	case p.Kind == Other && (p.Optional || p.Default != ""):
		o.notes = append(o.notes, fmt.Sprintf("%s is left out: an op has no %s", p.Name, p.Type))
		o.why = fmt.Sprintf("its parameter %s has the type %s", p.Name, p.Type)
	case p.Kind == Other && o.fn.C == nil && strings.Contains(p.Type, "&"):
		return fmt.Sprintf("its parameter %s has the type %s; if that is an array, say so by --tensor-type %s", p.Name, p.Type, p.base())
	case p.Kind == Other && o.fn.C == nil:
		return fmt.Sprintf("its parameter %s has the type %s", p.Name, p.Type)
	case p.Kind == Other:
		o.notes = append(o.notes, fmt.Sprintf("%s is left out: an op has no %s", p.Name, p.Type))
		o.why = fmt.Sprintf("its parameter %s has the type %s", p.Name, p.Type)
	case p.Kind == Int && o.fn.C != nil && sizeLike.MatchString(p.Name):
		name := o.free(p.Name)
		o.sizes[i], o.members[i] = name, name
		o.order = append(o.order, name)
	default:
		o.attribute(i, p)
	}
	return ""
}

// writes finds the results: what is returned, or what has the name of a result where nothing says what is written.
func (o *op) writes() (why string) {
	for _, r := range o.fn.Results {
		if o.fn.C != nil || r.Written { // a status; or an argument, again
			continue
		}
		o.outputs = append(o.outputs, &argument{name: o.named(cmp.Or(r.Name, "y")), param: r, list: r.Kind == List, result: true})
	}
	written := func(a *argument) bool { return a.mutated }
	if len(o.outputs) > 0 || slices.ContainsFunc(o.inputs, written) {
		return ""
	}
	var inputs []*argument
	for _, a := range o.inputs {
		if outLike.MatchString(a.param.Name) && !a.list && !a.optional && !a.param.Const {
			o.outputs = append(o.outputs, a)
		} else {
			inputs = append(inputs, a)
		}
	}
	o.inputs = inputs
	if len(o.outputs) > 0 || len(o.inputs) == 0 {
		return ""
	}
	for _, last := range slices.Backward(o.inputs) {
		if !last.param.Const && !last.param.sure {
			last.mutated = true
			o.notes = append(o.notes, last.name+" is overwritten, by a guess: nothing says what the function writes")
			return ""
		}
	}
	return "it returns no array, and writes none"
}

// sortInputs moves optional inputs behind the others, as an op has them.
func (o *op) sortInputs() {
	for _, a := range o.inputs {
		if a.list && a.optional {
			a.optional = false
			o.notes = append(o.notes, a.name+" must be given: a list cannot be left out")
		}
	}
	if !slices.ContainsFunc(o.inputs, func(a *argument) bool { return !a.optional }) {
		o.inputs[0].optional = false
		o.notes = append(o.notes, o.inputs[0].name+" must be given: the first input always is")
	}
	written := func(a *argument) bool { return a.mutated }
	always := func(a *argument) bool { return a.mutated && !a.optional }
	if i := slices.IndexFunc(o.inputs, written); i >= 0 && len(o.outputs) == 0 && !slices.ContainsFunc(o.inputs, always) {
		o.inputs[i].optional = false
		o.notes = append(o.notes, o.inputs[i].name+" must be given: it is what the op writes")
	}
	before := slices.Clone(o.inputs)
	slices.SortStableFunc(o.inputs, func(a, b *argument) int { return boolInt(a.optional) - boolInt(b.optional) })
	if !slices.Equal(before, o.inputs) {
		o.notes = append(o.notes, "inputs that may be left out stand behind the others now")
	}
}

// told are the notes about a draft: first what a person decides.
func (o *op) told() []string {
	first := "decide the shapes, the dtypes and the reference in opdefs/" + o.name + ".toml"
	if o.why != "" {
		first += ", and write " + o.file + ": " + o.why
	}
	if len(o.renamed) > 0 {
		o.notes = append(o.notes, "names that are taken, or none, are others: "+strings.Join(o.renamed, ", "))
	}
	return append([]string{first}, o.notes...)
}
