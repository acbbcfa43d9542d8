// Package fake is a framework in Go, with a collection of toy ops, for tests of the suite: it does what an adaptor does, and
// wrongly where a test asks for that.
package fake
