// Package check is what the checks of the suite are made of: the type Check, the T with which a check calls ops and expects
// something of the results, and the rows in which it tells what held.
//
// A check is one value of type Check. It stands in one file of a package below conformance/internal/checks, beside its body.
package check
