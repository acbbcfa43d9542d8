package agreement

import (
	"fmt"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

var lseChainCheck = check.Check{
	ID: "lse-chain", Group: check.GroupAcross,
	Doc:     "log-sum-exps that ops of the collection give, of the convention that an input has, give what the references give one after the other",
	Through: check.ThroughAdaptors, Needs: takesLSE, Foreign: check.Judges, Run: check.WithFewerDTypes(checkLSEChain),
}

// takesLSE holds for ops with a log-sum-exp as an input. That of a derivative belongs to the other inputs of its call, so no
// other op can give it.
func takesLSE(op *opdef.Op, _ calls.Caller) error {
	if err := check.SkipUnless(slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.LSE != nil }), "the op takes no log-sum-exp"); err != nil {
		return err
	}
	return check.SkipUnless(!derived(op), "the log-sum-exp of a derivative comes from its own op: see grad")
}

func derived(op *opdef.Op) bool { return op.GradientOf != nil || op.TangentOf != nil }

// checkLSEChain feeds each op's log-sum-exps into the op. Those of another convention are not combined.
func checkLSEChain(t *check.T) error {
	links := lseLinks(t)
	if len(links) == 0 {
		return check.Skip("no op of the collection gives a log-sum-exp of the convention of an input")
	}
	return t.EachRow(func(d cases.DTypes) error {
		fits := false
		for _, l := range links {
			found, err := l.run(t, d)
			if err = check.Proceed(err); err != nil {
				return err
			}
			fits = fits || found
		}
		return check.SkipUnless(fits, "no log-sum-exp of the collection can have the dtype and shape of an input")
	})
}

// lseLink is an output of an op that is a log-sum-exp, by its slot, and the convention.
type lseLink struct {
	from       *opdef.Op
	slot       int
	convention string
}

// lseLinks lists the log-sum-exps that the caller's ops give and some input of the op under test takes.
func lseLinks(t *check.T) []lseLink {
	wanted := map[string]bool{}
	for _, in := range t.Op.Inputs {
		wanted[in.LSE.String()] = in.LSE != nil
	}
	var out []lseLink
	for _, op := range t.Env.Project.Ops {
		if derived(op) || len(cases.KernelsOn(op, t.Env.Device)) == 0 || !t.Env.Foreign.Has(op, t.Caller.Name()) {
			continue
		}
		for slot, s := range cases.Slots(op) {
			if s.Output >= 0 && !op.Outputs[s.Output].Saved && wanted[s.LSE.String()] {
				out = append(out, lseLink{op, slot, s.LSE.String()})
			}
		}
	}
	return out
}

// run feeds the log-sum-exps of one op into the op under test, with the usual sizes of the one or, if the other cannot have
// them, with those of the other. It reports whether there are such sizes.
func (l *lseLink) run(t *check.T, d cases.DTypes) (bool, error) {
	for _, usual := range []func() (*cases.Case, error){
		func() (*cases.Case, error) { return t.NewCase(cases.BasePlan(d)) },
		func() (*cases.Case, error) { return l.taker(t, d) },
	} {
		c, err := usual()
		if err != nil {
			continue // the definitions exclude these sizes
		}
		fed, err := l.feed(t, c)
		if err != nil || fed == c {
			if err != nil {
				return true, err
			}
			continue
		}
		call, result, err := t.RunCase(t.Caller, fed)
		if err != nil {
			return true, err
		}
		return true, t.ExpectReference(call, fed, result)
	}
	return false, nil
}

// taker is a case of the op under test that takes what the other op gives with its usual sizes.
func (l *lseLink) taker(t *check.T, d cases.DTypes) (*cases.Case, error) {
	for _, other := range cases.SupportedDTypes(l.from, t.Env.Device) {
		c, err := t.Of(l.from).SampledCase(cases.BasePlan(other))
		if err != nil {
			return nil, err
		}
		shape, err := c.Shape(cases.Slots(l.from)[l.slot].Type)
		if err != nil {
			return nil, err
		}
		for _, in := range t.Op.Inputs {
			if p, ok := cases.PlanOfShape(t.Op, d, in.Type, shape); ok && in.LSE.String() == l.convention {
				return t.NewCase(p)
			}
		}
	}
	return nil, cases.ErrNoSizes
}

// feed puts results of the other op into a case, each of a call of its own; without one that fits, the case stays the same.
func (l *lseLink) feed(t *check.T, c *cases.Case) (*cases.Case, error) {
	fed := c
	for i, in := range t.Op.Inputs {
		if c.Inputs[i] == nil || in.LSE.String() != l.convention {
			continue
		}
		a, err := l.give(t, c, &in, c.Inputs[i])
		if err != nil {
			return nil, err
		}
		if a != nil {
			fed = fed.With(i, a, fmt.Sprintf("%s is the %s of %s", in.Name, cases.Slots(l.from)[l.slot].Name, l.from.Name))
		}
	}
	return fed, nil
}

// give calls the other op, judges its results, and returns that which can stand in the place of an input; nil where none can.
func (l *lseLink) give(t *check.T, c *cases.Case, in *opdef.Arg, place *ndarray.Array) (*ndarray.Array, error) {
	other, out := t.Of(l.from), cases.Slots(l.from)[l.slot]
	for _, d := range cases.SupportedDTypes(l.from, t.Env.Device) {
		p, ok := cases.PlanOfShape(l.from, d, out.Type, place.Shape)
		if !ok {
			return nil, nil
		}
		p.Name = l.from.Name + " for " + in.Name
		made, err := other.SampledCase(p)
		if err != nil || made.DType(out.Type) != place.DType {
			continue // the definition excludes these sizes or dtypes
		}
		if shape, err := made.Shape(out.Type); err != nil || rule.List(shape) != rule.List(place.Shape) {
			continue
		}
		call, result, err := other.Uncounted(t.Caller, made)
		if err != nil {
			return nil, err
		}
		if err := other.ExpectReference(call, made, result); err != nil {
			return nil, err
		}
		if a := result.Outputs[l.slot].Array; a != nil && c.InRange(in, a) {
			return a, nil
		}
	}
	return nil, nil
}
