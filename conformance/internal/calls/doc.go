// Package calls describes one call and its result, the callers that can make it, and the form in which both travel to
// another process.
//
// A Caller is a framework's adaptor, or one of the ways to reach the library without a framework: through tvm-ffi in Python
// ("backend"), from Go ("native"), or by the number of the op ("op_call").
package calls
