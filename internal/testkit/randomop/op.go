// Package randomop makes ops up at random: definitions over the whole language, with references and kernels that are right
// because what they compute is so simple. Tests hold the tool against them: the suite has nothing to say against such an op,
// and finds each whose kernel is spoilt.
//
// The package knows the language by its text alone and checks nothing; most of what it draws, opcast check accepts. This is
// what is drawn of docs/definitions.md:
//
//	doc, kind, since, deprecated, deterministic      all
//	dtypes                                           one to three dtypes of any width; fixed ones; ones that an attribute binds
//	inputs: optional, mutated, stride, min, max      all, also together; indices into a dim; an attribute's dtype
//	inputs: sorted, lse                              of integers; of float32
//	packs                                            of inputs, and of results that are copies of them
//	inputs: list                                     of arrays with sizes or leading dims of their own, also overwritten, beside optional inputs
//	outputs: saved, present_if, valid, lse           all; with optional inputs, or switched on by an attribute
//	outputs: list, sum, len                          copies of the arrays, their rows one after the other, and how many
//	attributes                                       every type; default, optional, min, max, one_of, binds
//	types                                            "*", "...", no leading dims; names, arithmetic, 0 and 1, choices by attributes
//	let, require, samples                            of sizes, attributes and dtypes
//	scratch                                          zeroed or not, several; kernels without; query_workspace
//	parallel, sums                                   leading and named dims, also dims that some results do not depend on
//	backward, forward, no_grad                       of first and second order, with optional and integer inputs
//	kernels                                          when, supported, scratch, query_workspace, dtypes, params
//	flops, workloads                                 of all sizes, dtypes and required attributes
//	reference                                        in the definition
//
// What is not drawn: tolerance (every result is rounded once), arch (it depends on the machine), and files with a reference,
// samples or an independent formula.
package randomop

import (
	"slices"
	"strings"
)

// Op is an op that is made up: what each result holds is so simple that its kernel is right.
type Op struct {
	// Name is the op's name, and that of its file.
	Name string
	kind int
	// lead is "*", "..." or "": the leading dims of the arguments that have some.
	lead           string
	vars           map[string][]string
	attrs          []attr
	inputs         []arg
	outputs        []arg
	lets, requires []string
	scratch        []scratch
	parallel, sums []string
	kernels        []kernel
	// derived are the keys backward and forward; others the keys that change nothing about what is computed.
	derived, others []string
	// still is an input of floating point without derivative, "" for none.
	still string
	// own are the sizes that differ from one array of a list to the next.
	own []string
	// space are the sizes over which polynomials run.
	space []string
	// spoilt is the place of the result that the fault is in, as in results; only is the kernel that has it, "" for all.
	spoilt int
	only   string
}

// attr is an attribute: its name, its keys, what it is for and a value for workloads, as TOML.
type attr struct{ name, keys, use, value string }

// scratch is work space: its name, its size in bytes as an expression and whether it begins as zeros.
type scratch struct {
	name, size string
	zeroed     bool
}

// kernel is an entry of kernels: its name, its other keys, the size that has to be even if its author decides by that, and
// whether it says how much scratch it uses, or takes any.
type kernel struct {
	name, keys, even   string
	workspace, scratch bool
	// params are the values of its parameters, of which it has as many.
	params [][]int
}

// arg is an input or an output.
type arg struct {
	name, dtype       string
	lead              bool
	dims              []string
	optional, mutated bool
	saved             bool
	// list is the list of arrays that the argument is, or as long as which it is; "" for one array.
	list                    string
	keys                    string
	rule, from, by, present string
	// flag is the attribute that switches an output on.
	flag  string
	terms []term
	// packs is the dtype of which each element holds several numbers.
	packs string
}

// term is a product of inputs, by name, with a factor; times says that the op's float attribute is another one.
type term struct {
	factor int
	times  bool
	of     []string
}

// kindOf is the type of an argument.
func (op *Op) kindOf(a *arg) string {
	dims := slices.Clone(a.dims)
	if a.lead {
		dims = append([]string{op.lead}, dims...)
	}
	return a.dtype + "[" + strings.Join(dims, ", ") + "]"
}

// input is the input of this name.
func (op *Op) input(name string) *arg {
	return &op.inputs[slices.IndexFunc(op.inputs, func(a arg) bool { return a.name == name })]
}

// results are the outputs and then the overwritten inputs.
func (op *Op) results() (all []*arg) {
	for i := range op.outputs {
		all = append(all, &op.outputs[i])
	}
	for i := range op.inputs {
		if op.inputs[i].mutated {
			all = append(all, &op.inputs[i])
		}
	}
	return all
}

// strided says whether the kernel gets the strides of an input.
func (a *arg) strided() bool { return strings.Contains(a.keys, "stride") }

// size is the number of elements in a row.
func (a *arg) size() string {
	if len(a.dims) == 0 {
		return "1"
	}
	return "(" + strings.Join(a.dims, ")*(") + ")"
}
