// Package oracle gives the expected values of a call, and compares results with them.
//
// The expected values come from the definition's reference, which is evaluated in float64 by NumPy in a process of its own.
// The allowed distance, in units in the last place (ulp), is derived from the dtypes and from the length of sums.
package oracle
