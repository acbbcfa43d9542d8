package transformed

import (
	"fmt"
	"maps"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// PreparedCall is a call of an op and its gradient: arguments, and what must come out.
type PreparedCall struct {
	C *cases.Case
	// Wrt are the places, among the inputs that are given, of those whose gradients are wanted.
	Wrt       []int
	Arguments calls.Arrays
	// Results, and the gradients at wrt.
	Results, Gradients []*ndarray.Array
}

// Expected are all arrays that must come out, results first.
func (p *PreparedCall) Expected() []*ndarray.Array { return slices.Concat(p.Results, p.Gradients) }

// Prepare computes what a case must give. With gradients it wants those of all inputs that have one; name distinguishes
// the contents of the cotangents.
func Prepare(t *check.T, c *cases.Case, gradients bool, name string) (*PreparedCall, error) {
	p := &PreparedCall{C: c, Wrt: []int{}, Arguments: calls.Arrays{Inputs: calls.InputTensors(c)}}
	if gradients {
		p.Wrt = DifferentiableInputs(c)
	}
	if len(p.Wrt) == 0 {
		made, err := BareCall(t, c)
		if err != nil {
			return nil, err
		}
		p.Results = made.Results(c.Op)
		return p, nil
	}
	cotangents, err := RandomCotangents(t, c, name)
	if err != nil {
		return nil, err
	}
	return p, Differentiated(t, p, cotangents)
}

// Differentiated fills in what the cotangents give.
func Differentiated(t *check.T, p *PreparedCall, cotangents []*ndarray.Array) error {
	results, all, err := BareGradient(t, p.C, cotangents)
	if err != nil {
		return err
	}
	p.Arguments.Cotangents = calls.TensorsOf(cotangents)
	p.Results, p.Gradients = results, GradientsAt(p.C, all, p.Wrt)
	return nil
}

// Launches are the kernels that the call starts: none where there is nothing to compute.
func (p *PreparedCall) Launches() map[string]int64 {
	out := map[string]int64{p.C.Op.Name: 1}
	if p.C.Empty() {
		out[p.C.Op.Name] = 0
	}
	if p.C.Op.Gradient != nil {
		out[p.C.Op.Gradient.Name] = 0
		if len(p.Wrt) > 0 {
			out[p.C.Op.Gradient.Name] = 1
		}
	}
	return out
}

// Expect expects the arrays and the launches of the call.
func (p *PreparedCall) Expect(t *check.T, name string, c *calls.TransformedCall) {
	if Expect(t, name, c, p.Expected()) {
		ExpectLaunches(t, name, c, p.Launches())
	}
}

// Request is the transformation of prepared calls, which have all the same inputs and attrs.
func Request(way string, options map[string]any, list ...*PreparedCall) *calls.Transformation {
	x := &calls.Transformation{Method: way, Call: calls.New(list[0].C), Options: map[string]any{"wrt": list[0].Wrt}}
	maps.Copy(x.Options, options)
	for _, p := range list {
		x.Calls = append(x.Calls, p.Arguments)
	}
	return x
}

// AxisIn is the first axis of an argument that is the dim. It is -1 where there is none.
func AxisIn(c *cases.Case, a *opdef.Arg, dim string) int {
	if all := AxesIn(c, a, dim); len(all) > 0 {
		return all[0]
	}
	return -1
}

// AxesIn are the axes of an argument that are the dim: there is none or one, or more where a matrix is square. Of leading
// dims it is the first.
func AxesIn(c *cases.Case, a *opdef.Arg, dim string) (axes []int) {
	if opdef.IsLead(dim) {
		if at := c.FirstAxis(a); at >= 0 {
			axes = append(axes, at)
		}
		return axes
	}
	at := 0
	for _, d := range a.Type.Dims {
		if d.Is(dim) {
			axes = append(axes, at)
		}
		if d.Leading() {
			at += len(c.Lead(a))
		} else {
			at++
		}
	}
	return axes
}

// ResultArgs are the results that exist, in order.
func ResultArgs(c *cases.Case) []*opdef.Arg {
	var out []*opdef.Arg
	for _, s := range c.Returned() {
		out = append(out, s.Arg)
	}
	return out
}

// AbsentInputs names the optional inputs that a case leaves out.
func AbsentInputs(c *cases.Case) []string {
	var out []string
	for i, in := range c.Inputs {
		if in == nil {
			out = append(out, c.Op.Inputs[i].Name)
		}
	}
	return out
}

// Column is the i-th array of every row.
func Column(rows [][]*ndarray.Array, k int) []*ndarray.Array {
	var out []*ndarray.Array
	for _, r := range rows {
		out = append(out, r[k])
	}
	return out
}

// SumSpacings is how many spacings each summand may cost: its own sum is the kernel's, with another order.
const SumSpacings = 8

// ExpectParts is Expect where a framework makes one call of several, or several of one, as parallel dims allow: kernels that
// promise no bits for parts may give others.
func ExpectParts(t *check.T, name string, c *calls.TransformedCall, want []*ndarray.Array) bool {
	return expect(t, name, c, want, SameParts(t))
}

// SameParts compares the results of parts with those of the whole: bits, unless a kernel promises none for parts.
func SameParts(t *check.T) comparison {
	if t.KeepsParts() {
		return oracle.SameBits
	}
	return NearSum
}

// NearSum compares a sum that was made in another order with the whole one.
func NearSum(name string, got, want *ndarray.Array) string {
	if rule.List(got.Shape) != rule.List(want.Shape) || got.DType.Long != want.DType.Long {
		return fmt.Sprintf("%s: got %s%s, want %s%s", name, got.DType.Long, rule.List(got.Shape), want.DType.Long, rule.List(want.Shape))
	}
	largest := 0.0
	for _, v := range want.Floats() {
		largest = max(largest, v, -v)
	}
	allowed := SumSpacings * 8 * ndarray.Spacing(got.DType.Part(), largest)
	values := want.Floats()
	for i, v := range got.Floats() {
		if d := v - values[i]; !(max(d, -d) <= allowed) {
			return fmt.Sprintf("%s%s: got %v, want %v", name, rule.List(got.Parts().Index(int64(i))), v, values[i])
		}
	}
	return ""
}
