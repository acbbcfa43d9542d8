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
//	inputs: list                                     of arrays with sizes or leading dims of their own, also overwritten, beside optional inputs
//	outputs: saved, present_if, valid, lse           all
//	outputs: list, sum, len                          copies of the arrays, their rows one after the other, and how many
//	attributes                                       every type; default, optional, min, max, one_of, binds
//	types                                            "*", "...", no leading dims; names, arithmetic, 0 and 1, choices by attributes
//	let, require, samples                            of sizes, attributes and dtypes
//	scratch                                          zeroed or not, several; kernels without; query_workspace
//	parallel, sums                                   leading and named dims, also dims that some results do not depend on
//	backward, forward                                of first and second order, with optional and integer inputs
//	kernels                                          when, supported, scratch, query_workspace, dtypes, params
//	flops, workloads                                 of all sizes, dtypes and required attributes
//	reference                                        in the definition
//
// What is not drawn: tolerance (every result is rounded once), arch (it depends on the machine), and files with a reference,
// samples or an independent formula.
package randomop
