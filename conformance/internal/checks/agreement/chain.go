package agreement

import (
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/rule"
)

var chainCheck = check.Check{
	ID: "chain", Group: check.GroupAcross,
	Doc:   "results pass to other frameworks through DLPack without a copy",
	Needs: check.NotBackend, Foreign: check.ComparedWithBackend, Run: checkChain,
}

// checkChain feeds the op's result, through DLPack, into the op in every other framework.
func checkChain(t *check.T) error {
	if t.Env.Chain == nil {
		return check.Skip("fewer than two frameworks are installed")
	}
	backend := t.Env.Caller(calls.BackendName)
	c, link, err := chainCase(t)
	if err != nil {
		return err
	}
	if c == nil {
		return check.Skip("no input takes an output of the op")
	}
	first, err := t.RunBaseline(backend, c)
	if err != nil {
		return err
	}
	want, err := t.RunBaseline(backend, c.With(link.Feed, first.Outputs[link.Slot].Array, "chained"))
	if err != nil {
		return err
	}
	for _, other := range t.Env.Chain.Frameworks() {
		if other == t.Caller.Name() {
			continue
		}
		if err := chainTo(t, c, link, other, want); err != nil {
			return err
		}
	}
	return nil
}

// chainTo passes the result on to one other framework.
func chainTo(t *check.T, c *cases.Case, link calls.ChainLink, other string, want *calls.Result) error {
	call := calls.New(c)
	name := t.Caller.Name() + " to " + other
	result, from, to, err := t.Env.Chain.Chain(t.Ctx, call, link, t.Caller.Name(), other)
	if err != nil {
		return err
	}
	if result.Unsupported != "" {
		t.CurrentRow().Unsupported = result.Unsupported
		return nil
	}
	t.CurrentRow().Checked++
	if result = t.ExpectSuccess(call, name, result); result == nil {
		return nil
	}
	t.ExpectSameBits(call, name, result, want)
	if from != to && from%alignment == 0 {
		t.Fail(call, name, "the array was copied on its way")
	}
	return nil
}

// alignment is what JAX demands of memory before it takes it without a copy.
const alignment = 64

// chainCase finds sizes with which an input has dtype and shape of a result; no case where there are none.
func chainCase(t *check.T) (*cases.Case, calls.ChainLink, error) {
	all := cases.SupportedDTypes(t.Op, t.Env.Device)
	if len(all) == 0 {
		return nil, calls.ChainLink{}, nil
	}
	p := cases.BasePlan(all[0])
	p.Sizes = map[string]int64{}
	for _, s := range cases.Symbols(t.Op) {
		p.Sizes[s] = 8
	}
	c, err := t.SampledCase(p)
	if err != nil {
		return nil, calls.ChainLink{}, nil // equal sizes are not allowed, so there is no such call
	}
	results, err := c.ZeroResults()
	if err != nil {
		return nil, calls.ChainLink{}, err
	}
	for k, s := range calls.ReturnedSlots(calls.New(c), t.Caller) {
		at := slices.IndexFunc(cases.Slots(t.Op), func(other cases.Slot) bool { return other.Arg == s.Arg })
		for i, in := range c.Inputs {
			// What a framework imports may be read-only there, so that it cannot be overwritten.
			if in != nil && results[at] != nil && !t.Op.Inputs[i].Mutated && t.Op.Inputs[i].LSE.String() == s.LSE.String() &&
				in.DType == results[at].DType && rule.List(in.Shape) == rule.List(results[at].Shape) {
				return c, calls.ChainLink{Slot: at, Result: k, Feed: i}, nil
			}
		}
	}
	return nil, calls.ChainLink{}, nil
}
