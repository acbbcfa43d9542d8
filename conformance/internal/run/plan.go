package run

import (
	"fmt"
	"iter"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Cell is what runs of one op through one caller.
type Cell struct {
	Op     *opdef.Op
	Caller string
	Checks []check.Check
}

// Plan is what the options ask for.
type Plan struct {
	Cells []Cell
	// callers are those to start. The bare backend is one of them, even where no cell calls it: others are compared with it.
	callers []string
	ops     []*opdef.Op
	foreign *check.ForeignCode
	known   map[string][]known.Failure
	// job is what a process with a part of the run does; nil outside of one.
	job *job
}

// plan reads the options, and starts nothing.
func plan(o Options) (*Plan, error) {
	p := &Plan{}
	var err error
	if p.foreign, err = newForeign(o); err != nil {
		return nil, err
	}
	if p.ops, p.callers, err = Selection(o, p.foreign); err != nil {
		return nil, err
	}
	if p.job, err = readJob(o); err != nil {
		return nil, err
	}
	var chosen choice
	if p.job != nil { // the process that started it has read the other choices: its report is not that of the last run
		chosen.job = p.job.Specs
	} else if chosen, err = newChoice(o); err != nil {
		return nil, err
	}
	if err := chosen.checkPatterns(o.Project.Ops, allCallers(o.Project, p.foreign), p.foreign); err != nil {
		return nil, err
	}
	if p.known, err = loadKnown(o, p.foreign, p.callers); err != nil {
		return nil, err
	}
	var callers []string
	if o.Sanitizer == "" { // which only what calls the library has something to do with
		callers = append(callers, calls.DefinitionName)
	}
	for _, name := range p.callers {
		if len(o.Adaptors) == 0 || slices.Contains(o.Adaptors, name) {
			callers = append(callers, name)
		}
	}
	p.Cells, err = chosen.cells(p.ops, callers, p.foreign)
	return p, err
}

// transforms reports whether ops may be transformed through a caller: a plan without cells does not say what its callers are for.
func (p *Plan) transforms(caller string) bool {
	return len(p.Cells) == 0 || slices.ContainsFunc(p.Cells, func(c Cell) bool {
		return c.Caller == caller && slices.ContainsFunc(c.Checks, func(one check.Check) bool { return one.Group == check.GroupTransform })
	})
}

// cells are the chosen checks by op and caller. Shards take cells in turn, in another order for every op: neighbouring
// shards get about as much of each adaptor.
func (c *choice) cells(ops []*opdef.Op, callers []string, f *check.ForeignCode) ([]Cell, error) {
	var out []Cell
	elsewhere := false
	for i, op := range ops {
		for j, caller := range callers {
			if !f.Has(op, caller) {
				continue
			}
			checks := slices.DeleteFunc(ChecksOf(caller, f.Callables()), func(one check.Check) bool {
				return c.fast && one.Profile != check.ProfileFast || !c.selects(op.Name, caller, one.ID)
			})
			switch {
			case len(checks) == 0:
			case c.parts > 0 && (i+j)%c.parts != c.part:
				elsewhere = true
			default:
				out = append(out, Cell{op, caller, checks})
			}
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case elsewhere:
		return nil, fmt.Errorf("%w: shard %d of %d is empty", ErrNothing, c.part+1, c.parts)
	}
	return nil, fmt.Errorf("%w: the options together leave no check", ErrUsage)
}

// specs are the checks of cells, one by one.
func specs(cells []Cell) iter.Seq2[*Cell, *check.Check] {
	return func(yield func(*Cell, *check.Check) bool) {
		for i := range cells {
			for k := range cells[i].Checks {
				if !yield(&cells[i], &cells[i].Checks[k]) {
					return
				}
			}
		}
	}
}

// patternsOf names the specs of cells.
func patternsOf(cells []Cell) []pattern {
	var out []pattern
	for c, one := range specs(cells) {
		out = append(out, pattern{c.Op.Name, c.Caller, one.ID})
	}
	return out
}

// unknown is the error about a name that the project does not have, with the one that may be meant.
func unknown(what, name string, known []string) error {
	err := fmt.Errorf("%s %q: %w", what, name, ErrUnknown)
	if hint := diag.DidYouMean(name, known, ""); hint != "" {
		err = fmt.Errorf("%w: %s", err, hint)
	}
	return err
}

// Selection is the ops that the options choose, and the callers to start.
func Selection(o Options, f *check.ForeignCode) (ops []*opdef.Op, callers []string, err error) {
	for _, name := range o.Ops {
		if !slices.ContainsFunc(o.Project.Ops, func(op *opdef.Op) bool { return op.Name == name }) {
			return nil, nil, unknown("op", name, o.Project.OpNames())
		}
	}
	for _, op := range o.Project.Ops {
		if slices.Contains(o.Ops, op.Name) || len(o.Ops) == 0 && f.Has(op, calls.DefinitionName) {
			ops = append(ops, cases.Tested(op))
		}
	}
	have := callerNames(f, o.Project)
	for _, name := range o.Adaptors {
		if !slices.Contains(have, name) {
			return nil, nil, unknown("adaptor", name, have)
		}
	}
	for _, name := range have {
		if o.Profile == check.ProfileFast && len(o.Adaptors) == 0 && (name == calls.NativeName || name == calls.OpCallName) {
			continue // they call what the bare backend calls
		}
		// The bare backend is what the others are compared with, so it always starts.
		if len(o.Adaptors) == 0 || slices.Contains(o.Adaptors, name) || name == calls.BackendName && !f.Callables() {
			callers = append(callers, name)
		}
	}
	return ops, callers, nil
}
