package load

import (
	"slices"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// parallel checks along which dims the op may be sliced: parallel and sums.
func (c *checker) parallel() {
	c.op.Parallel, c.op.Sums = c.raw.Parallel, c.raw.Sums
	for i, name := range c.raw.Parallel {
		path := tomldoc.Element("parallel", i)
		if !c.sliceable(path, code.Parallel, name, c.raw.Parallel[:i]) {
			continue
		}
		if with, _ := c.results(name); with == 0 {
			c.report(path, code.Parallel, "only a dim of a result can be sliced", "parallel dim %s is in no output", name)
		}
	}
	for i, name := range c.raw.Sums {
		path := tomldoc.Element("sums", i)
		if !c.sliceable(path, code.Sums, name, c.raw.Sums[:i]) {
			continue
		}
		with, without := c.results(name)
		switch {
		case c.open:
		case without == "":
			c.report(path, code.Sums, "sums is for outputs that lack the dim", "every output has the dim %s: none is a sum over it", name)
		case with > 0 && !opdef.IsLead(name) && !slices.Contains(c.raw.Parallel, name):
			c.report(path, code.Sums, "add it to parallel too", "some output has the dim %s, of which parallel says nothing", name)
		}
	}
}

// sliceable says whether name is a plain dim of the inputs that no other dim is computed from.
func (c *checker) sliceable(path, code, name string, before []string) bool {
	known, declared := c.names[name]
	switch {
	case c.doc.Tainted(path):
	case slices.Contains(before, name):
		c.report(path, code, "", "%s is listed twice", name)
	case declared:
		c.report(path, code, "name a dim of an input", "%s is no dim but %s", name, diag.Indefinite(known.kind))
	case opdef.IsLead(name) && name == c.op.Lead():
		return true
	case !c.sizes[name]:
		if !c.open {
			c.report(path, code, diag.DidYouMean(name, keys(c.sizes), "name a dim of an input"), "no input has a dim %q", name)
		}
	case c.twice(name) != "":
		c.report(path, code, "only dims that an argument has once can be sliced", "%s stands twice in %s", name, c.twice(name))
	case c.inArithmetic(name) != "":
		c.report(path, code, "only dims that stand alone can be sliced", "%s is used in %s", name, c.inArithmetic(name))
	default:
		return true
	}
	return false
}

// twice names an argument that has the dim more than once, or is empty.
func (c *checker) twice(name string) string {
	for _, arg := range slices.Concat(c.op.Inputs, c.op.Outputs) {
		times := 0
		for _, d := range arg.Type.Dims {
			if d.Is(name) {
				times++
			}
		}
		if times > 1 {
			return arg.Name
		}
	}
	return ""
}

// inArithmetic returns a dim of an input or output, or the default of an attr, that computes with name, or "": a slice of the
// inputs would give it another value.
func (c *checker) inArithmetic(name string) string {
	for _, arg := range slices.Concat(c.op.Inputs, c.op.Outputs) {
		for _, d := range arg.Type.Dims {
			if d.Expr == nil || d.Is(name) {
				continue
			}
			if slices.Contains(c.expand(d.Expr).Symbols(), name) {
				return d.Expr.Text + " of " + arg.Name
			}
		}
	}
	for _, a := range c.op.Attrs {
		if a.DefaultExpr != nil && slices.Contains(c.expand(a.DefaultExpr).Symbols(), name) {
			return a.DefaultExpr.Text + ", the default of " + a.Name
		}
	}
	return ""
}

// results counts the outputs and mutated inputs that have the dim, and names one that has not.
func (c *checker) results(name string) (with int, without string) {
	for _, arg := range c.op.Written() {
		if arg.Has(name) {
			with++
		} else {
			without = arg.Name
		}
	}
	return with, without
}
