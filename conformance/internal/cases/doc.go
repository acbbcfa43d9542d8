// Package cases decides which valid calls of an op to make: the dtypes, sizes, attributes and contents of their arrays, and
// the kernels that take them.
//
// A Plan says what a call should be like, for example "size 1 along K" or "only denormal numbers"; a Case is the call that
// follows from a plan and a definition, independent of any framework. Equal plans give equal cases: everything is seeded.
package cases
