package opdef

import "slices"

// parallel checks along which dims the op may be sliced: parallel and sums.
func (c *checker) parallel() {
	c.op.Parallel, c.op.Sums = c.raw.Parallel, c.raw.Sums
	for i, name := range c.raw.Parallel {
		path := element("parallel", i)
		if !c.sliceable(path, codeParallel, name, c.raw.Parallel[:i]) {
			continue
		}
		with, without := c.results(name)
		switch {
		case with == 0:
			c.report(path, codeParallel, "only a dim of a result can be sliced", "parallel dim %s is in no output", name)
		case without != "" && !slices.Contains(c.raw.Sums, name):
			c.report(path, codeParallel, "if "+without+` is a sum over it, add it to sums`, "parallel dim %s is not in the output %s", name, without)
		}
	}
	for i, name := range c.raw.Sums {
		path := element("sums", i)
		if !c.sliceable(path, codeSums, name, c.raw.Sums[:i]) {
			continue
		}
		if _, without := c.results(name); without == "" && !c.open {
			c.report(path, codeSums, "sums is for outputs that lack the dim", "every output has the dim %s: none is a sum over it", name)
		}
	}
}

// sliceable says whether name is a plain dim of the inputs that no other dim is computed from.
func (c *checker) sliceable(path, code, name string, before []string) bool {
	known, declared := c.names[name]
	switch {
	case c.doc.tainted(path):
	case slices.Contains(before, name):
		c.report(path, code, "", "%s is listed twice", name)
	case declared:
		c.report(path, code, "name a dim of an input", "%s is no dim but %s", name, indefinite(known.kind))
	case name == "*" && c.op.HasBatch():
		return true
	case name == "*" || !c.sizes[name]:
		if !c.open {
			c.report(path, code, didYouMean(name, keys(c.sizes), "name a dim of an input"), "no input has a dim %q", name)
		}
	case c.inArithmetic(name) != "":
		c.report(path, code, "only dims that stand alone can be sliced", "%s is used in %s", name, c.inArithmetic(name))
	default:
		return true
	}
	return false
}

// inArithmetic returns a dim of an input or output that computes with name, or "".
func (c *checker) inArithmetic(name string) string {
	for _, arg := range slices.Concat(c.op.Inputs, c.op.Outputs) {
		for _, d := range arg.Type.Dims {
			if d.Expr == nil || d.Expr.Op == OpSymbol && d.Expr.Name == name {
				continue
			}
			if slices.Contains(c.expand(d.Expr).Symbols(), name) {
				return d.Expr.Text + " of " + arg.Name
			}
		}
	}
	return ""
}

// results counts the outputs and mutated inputs that have the dim, and names one that has not.
func (c *checker) results(name string) (with int, without string) {
	results := slices.Clone(c.op.Outputs)
	for _, in := range c.op.Inputs {
		if in.Mutated {
			results = append(results, in)
		}
	}
	for _, arg := range results {
		has := func(d Dim) bool {
			return d.Star && name == "*" || d.Expr != nil && d.Expr.Op == OpSymbol && d.Expr.Name == name
		}
		if slices.ContainsFunc(arg.Type.Dims, has) {
			with++
		} else {
			without = arg.Name
		}
	}
	return with, without
}
