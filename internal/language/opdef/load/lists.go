package load

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// listInput checks what an input that is a list of arrays cannot be.
func (c *checker) listInput(path string, arg *opdef.Arg) {
	if !arg.List {
		return
	}
	if arg.Optional {
		c.report(tomldoc.Join(path, "optional"), code.List, "define another op without it", "list %s cannot be left out", arg.Name)
		arg.Optional = false
	}
	for _, key := range []string{"stride", "lse"} {
		if where := tomldoc.Join(path, key); c.doc.Given(where) {
			c.report(where, code.List, "leave it out", "%s says nothing about the arrays of a list", key)
		}
	}
}

// listOutput checks an output that is a list of arrays: it goes with an input that is one.
func (c *checker) listOutput(path string, arg *opdef.Arg) {
	where := tomldoc.Join(path, "list")
	if !arg.List {
		if c.doc.Given(where) {
			c.report(where, code.List, "name an input that is a list", "list names no input")
		}
		return
	}
	if i := c.op.InputIndex(arg.Per); i < 0 || !c.op.Inputs[i].List {
		c.report(where, code.List, "name an input with list = true: the output has as many arrays", "%q is no list", arg.Per)
		arg.List = false
	}
	for _, key := range []string{"saved", "present_if", "valid", "lse"} {
		if where := tomldoc.Join(path, key); c.doc.Given(where) {
			c.report(where, code.List, "leave it out", "%s says nothing about the arrays of a list", key)
		}
	}
	arg.PresentIf = "" // else the op would seem to return nothing
}

// ownSizes are the sizes that differ from one array of a list to the next: the names in the types of lists that stand nowhere
// else, other than in sum(n). Elsewhere they are sizes of all arrays.
func (c *checker) ownSizes() map[string]bool {
	own := map[string]bool{}
	others := slices.Concat(c.raw.Parallel, c.raw.Sums)
	for _, a := range slices.Concat(c.op.Inputs, c.op.Outputs, c.op.Scratch) {
		for _, d := range a.Type.Dims {
			switch {
			case d.Expr == nil:
			case !a.List:
				others = append(others, c.expand(d.Expr).Numbers()...)
			default:
				for _, name := range c.expand(d.Expr).Numbers() {
					_, declared := c.names[name]
					own[name] = !declared
				}
			}
		}
	}
	for _, name := range keys(c.lets) {
		others = append(others, c.expand(c.lets[name]).Numbers()...)
	}
	for _, name := range others {
		delete(own, name)
	}
	return own
}

// ownLeads finds the lists whose arrays have leading dims of their own: "*" of lists alone is that of each array.
func (c *checker) ownLeads() {
	outside := func(a opdef.Arg) bool { return !a.List && a.Type.Lead() == opdef.Same }
	shared := slices.ContainsFunc(slices.Concat(c.op.Inputs, c.op.Outputs, c.op.Scratch), outside)
	for _, args := range [][]opdef.Arg{c.op.Inputs, c.op.Outputs} {
		for i := range args {
			args[i].Own = !shared && args[i].List && args[i].Type.Lead() == opdef.Same
		}
	}
}

// lists checks what concerns lists as a whole: what an op with lists cannot have, and sizes of lists that may have another
// number of arrays.
func (c *checker) lists() {
	if !c.op.HasLists() {
		return
	}
	for _, key := range []string{"backward", "forward"} {
		if c.doc.Given(key) {
			c.report(key, code.List, "differentiate through an op of single arrays", "an op of lists cannot have a derivative")
		}
	}
	for i := range c.op.Outputs {
		out := &c.op.Outputs[i]
		if !out.List {
			continue
		}
		for _, d := range out.Type.Dims {
			if d.Expr != nil {
				c.sizesOfList(tomldoc.Join(tomldoc.Element("outputs", i), "type"), out.Name, out.Per, c.expand(d.Expr))
			}
		}
		if in := c.ownLead(); out.Own && in != "" && c.op.Partner(in) != c.op.Partner(out.Per) {
			c.report(tomldoc.Join(tomldoc.Element("outputs", i), "type"), code.List, "",
				"%s: the leading dims are those of %s, which may have another number of arrays than %s", out.Name, in, out.Per)
		}
	}
}

// ownLead is the first list whose arrays have leading dims of their own, or "".
func (c *checker) ownLead() string {
	for _, in := range c.op.Inputs {
		if in.Own {
			return in.Name
		}
	}
	return ""
}

// sizesOfList refuses sizes that differ between the arrays of lists of another length than the one whose arrays an argument
// goes with.
func (c *checker) sizesOfList(path, arg, list string, e *expr.Expr) {
	for _, name := range e.Numbers() {
		if other := c.op.ListOf(name); other != "" && c.op.Partner(other) != c.op.Partner(list) {
			c.report(path, code.List, "", "%s: %s is a size of %s, which may have another number of arrays than %s", arg, name, other, list)
		}
	}
}

// workloadLists finds how many arrays the lists of a workload have, which it has to say in one way.
func (c *checker) workloadLists(w *opdef.Workload, path string) bool {
	for _, name := range keys(w.Elements) {
		list, n := c.op.Partner(c.op.ListOf(name)), len(w.Elements[name])
		if before, known := w.Lengths[list]; known && before != n {
			c.report(path, code.Workload, "", "%s: expected as many sizes as %s has arrays (%d), got %d", name, list, before, n)
			return false
		}
		w.Lengths[list] = n
	}
	for _, list := range c.op.Lists() {
		n, known := w.Lengths[c.op.Partner(list)]
		w.Lengths[list] = n
		switch {
		case c.ownLead() != "":
			c.report(path, code.Workload, "give the arrays sizes with names", "a workload cannot say the leading dims of each array of %s", c.ownLead())
			return false
		case !known:
			c.report(path, code.Workload, "write "+list+" = 3", "the workload does not say how many arrays %s has", list)
			return false
		}
	}
	return true
}

// workloadLength reads how many arrays a list of a workload has.
func (c *checker) workloadLength(w *opdef.Workload, path, key string, value any) bool {
	const most = 1 << 16
	n, ok := value.(int64)
	first := c.op.Partner(key)
	if before, known := w.Lengths[first]; ok && known && int64(before) != n {
		c.report(path, code.Workload, "", "%s: expected as many arrays as the lists that go with it have (%d), got %d", key, before, n)
		return false
	}
	if ok = ok && 0 < n && n <= most; ok {
		w.Lengths[first] = int(n)
	}
	return c.workloadValue(path, key, fmt.Sprintf("a number of arrays from 1 to %d", most), value, ok)
}
