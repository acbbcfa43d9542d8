package conformance

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rule"
)

// bitsOf compares a caller's bits, in every mode, with those of the bare export.
func (t *T) bitsOf(c *Case) error {
	backend := t.env.caller(backendName)
	if backend == nil {
		return skip("the backend cannot be called")
	}
	want, err := t.baseline(backend, c)
	if err != nil {
		return err
	}
	for _, mode := range modes(t.Caller) {
		call := newCall(c)
		call.Mode = mode
		got, err := t.Call(call, c.Name)
		if err != nil {
			return err
		}
		if got = t.succeeded(call, c.Name+", "+mode, got); got != nil {
			t.identical(call, c.Name+", "+mode, got, want)
			t.launched(call, c, got)
		}
	}
	return nil
}

func checkBits(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return append(valuePlans(t.Op, d), signedZeroPlans(t.Op, d)...) }, t.bitsOf)
}

// signedZeroPlans give each float attr zero, then minus zero: programs that are kept by their attrs must tell them apart.
func signedZeroPlans(op *opdef.Op, d dtypes) []plan {
	var plans []plan
	for i := range op.Attrs {
		a := &op.Attrs[i]
		low, hasLow := number(a.Min)
		high, hasHigh := number(a.Max)
		if a.Type != "float" || hasLow && low > 0 || hasHigh && high < 0 {
			continue
		}
		for _, p := range presencePlans(op, d) { // what is added may hide the sign
			for _, zero := range []float64{0, math.Copysign(0, -1)} {
				p.attrs = map[string]any{a.Name: zero}
				plans = append(plans, p)
			}
		}
	}
	return plans
}

// checkDenormals uses inputs below the smallest normal number: a framework that flushes them to zero would change bits.
func checkDenormals(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{denormalPlan(t.Op, d)} }, t.bitsOf)
}

// checkAgreement compares the errors of a caller with those of the bare export, without asking the rules: only the word
// for arrays differs.
func checkAgreement(t *T) error {
	backend := t.env.caller(backendName)
	if backend == nil {
		return skip("the backend cannot be called")
	}
	program := rule.Compile(t.Op)
	call, faults, err := t.faults(backend)
	if err != nil {
		return err
	}
	for _, f := range faults {
		if f.phase >= phaseCount && f.phase != phaseApart || f.phase == phaseDevice {
			continue // arrays that only one side can make
		}
		wrong := f.apply(call)
		plain := wrong.clone()
		plain.Out, plain.Scratch = nil, nil
		if expect(program, plain, t.Caller, t.env.device) == nil {
			continue // only the backend's output arrays make it wrong
		}
		if err := proceed(t.agree(backend, wrong, plain, f.arg+" "+f.kind)); err != nil {
			return err
		}
	}
	return nil
}

// agree expects the caller's error for a call to be the backend's for its form of the same call.
func (t *T) agree(backend Caller, wrong, plain *Call, name string) error {
	want, err := t.CallWith(backend, wrong, name)
	if err := proceed(err); err != nil {
		return err
	}
	got, err := t.Call(plain, name) // also where the backend cannot express the call: it must not end the process
	if err != nil || want == nil || want.Error == nil {
		return err
	}
	text := strings.ReplaceAll(want.Error.Text, backend.Word(), t.Caller.Word())
	t.raised(plain, name, got, &rule.Fault{Class: want.Error.Class, Text: text})
	return nil
}

// chainer calls two frameworks in one process.
type chainer interface {
	// Frameworks are the adaptors that it can call.
	Frameworks() []string
	// Chain calls the op in the first framework, hands one of its results over through DLPack as an input of a second
	// call in the second framework, and returns that call's result and the addresses of the handed-over array on both
	// sides.
	Chain(ctx context.Context, call *Call, link chainLink, first, second string) (result *Result, from, to uint64, err error)
}

// chainLink says which result of a call, by its slot and by its place in a public result, becomes which input of the next.
type chainLink struct{ slot, result, feed int }

// checkChain feeds the op's result, through DLPack, into the op in every other framework.
func checkChain(t *T) error {
	if t.env.chain == nil {
		return skip("fewer than two frameworks are installed")
	}
	backend := t.env.caller(backendName)
	c, link, err := t.chainCase()
	if err != nil {
		return err
	}
	if c == nil {
		return skip("no input takes an output of the op")
	}
	first, err := t.baseline(backend, c)
	if err != nil {
		return err
	}
	want, err := t.baseline(backend, c.with(link.feed, first.Outputs[link.slot].Array, "chained"))
	if err != nil {
		return err
	}
	for _, other := range t.env.chain.Frameworks() {
		if other == t.Caller.Name() {
			continue
		}
		if err := t.handOver(c, link, other, want); err != nil {
			return err
		}
	}
	return nil
}

// handOver passes the result on to one other framework.
func (t *T) handOver(c *Case, link chainLink, other string, want *Result) error {
	call := newCall(c)
	name := t.Caller.Name() + " to " + other
	result, from, to, err := t.env.chain.Chain(t.ctx, call, link, t.Caller.Name(), other)
	if err != nil {
		return err
	}
	if result.Unsupported != "" {
		t.row().unsupported = result.Unsupported
		return nil
	}
	t.row().done++
	if result = t.succeeded(call, name, result); result == nil {
		return nil
	}
	t.identical(call, name, result, want)
	if from != to && from%alignment == 0 {
		t.Fail(call, name, "the array was copied on its way")
	}
	return nil
}

// alignment is what JAX demands of memory before it takes it without a copy.
const alignment = 64

// chainCase finds sizes with which an input has dtype and shape of a result; no case where there are none.
func (t *T) chainCase() (*Case, chainLink, error) {
	all := combinations(t.Op, t.env.device)
	if len(all) == 0 {
		return nil, chainLink{}, nil
	}
	p := base(all[0])
	p.sizes = map[string]int64{}
	for _, s := range symbols(t.Op) {
		p.sizes[s] = 8
	}
	c, err := t.sampledCase(p)
	if err != nil {
		return nil, chainLink{}, nil // equal sizes are not allowed, so there is no such call
	}
	results, err := c.results()
	if err != nil {
		return nil, chainLink{}, err
	}
	for k, s := range expects(newCall(c), t.Caller) {
		at := slices.IndexFunc(slots(t.Op), func(other slot) bool { return other.Arg == s.Arg })
		for i, in := range c.Inputs {
			// What a framework imports may be read-only there, so that it cannot be overwritten.
			if in != nil && results[at] != nil && !t.Op.Inputs[i].Mutated &&
				in.DType == results[at].DType && list(in.Shape) == list(results[at].Shape) {
				return c, chainLink{at, k, i}, nil
			}
		}
	}
	return nil, chainLink{}, nil
}
