package conformance

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/rule"
)

// definitionName is the caller under which checks of the definition itself are reported.
const definitionName = "definition"

// definition stands for no framework at all.
type definition struct{}

func (definition) Name() string          { return definitionName }
func (definition) Word() string          { return "array" }
func (definition) Probes(string) []Probe { return nil }
func (definition) Call(context.Context, *Call) (*Result, error) {
	return nil, fmt.Errorf("a definition cannot be called")
}

// checkOracle plants wrong results and expects the comparison to find each: every output of every dtype, one element off
// by a little more than is allowed, NaN, or of the wrong sign.
func checkOracle(t *T) error {
	return t.eachCase(func(d dtypes) []plan { return []plan{base(d)} }, func(c *Case) error {
		want, err := t.env.oracle.Reference(t.ctx, c, "float64")
		if err != nil {
			return err
		}
		t.row().done++
		for i, w := range want {
			s := slots(c.Op)[i]
			if !c.has(s) {
				continue
			}
			bound := boundOf(c, i)
			exact := ndarray.FromFloats(c.DType(s.Type), w.Shape, w.Values)
			if text := compare(s.Name, exact, w, bound); text != "" {
				t.Fail(nil, c.Name, "the rounded reference is refused: %s", text)
			}
			if exact.Len() == 0 {
				continue
			}
			t.planted(c, i, exact, w, bound)
		}
		return nil
	})
}

// planted changes the middle element in ways that must be found.
func (t *T) planted(c *Case, i int, exact *ndarray.Array, want Expected, bound Bound) {
	at := exact.Len() / 2
	v := want.Values[at]
	step := 2*(bound.ULPs*ndarray.Spacing(exact.DType, v)+bound.Abs+bound.Rel*math.Abs(v)) + 1e-300
	wrong := map[string]float64{"above": v + step, "below": v - step, "NaN": math.NaN()}
	if !ndarray.IsFloat(exact.DType) {
		wrong = map[string]float64{"above": v + 1}
	}
	for kind, value := range wrong {
		bad := exact.Dense()
		ndarray.PutFloat(bad.DType, bad.Data, at, value)
		if name := slots(c.Op)[i].Name; compare(name, bad, want, bound) == "" {
			t.Fail(nil, c.Name, "%s: a value %s the reference passes: %v for %v", name, kind, value, v)
		}
	}
}

// checkFaultCoverage leaves each rule out in turn: some wrong call must notice, else no test would miss the rule.
func checkFaultCoverage(t *T) error {
	c, err := t.wrongCase()
	if err != nil {
		return err
	}
	program := rule.Compile(t.Op)
	wrong, err := t.allWrong(c, program)
	if err != nil {
		return err
	}
	t.row().done++
	for i, r := range program.Rules {
		if !breakable(r) || isRepeated(t.Op, r) {
			continue
		}
		without := *program
		without.Rules = slices.Delete(slices.Clone(program.Rules), i, i+1)
		if !slices.ContainsFunc(wrong, func(w *Call) bool { return noticed(program, &without, w, t.env.device) }) {
			t.Fail(nil, "rules", "no wrong call breaks rule %d: %s %s%s", i, r.Arg, r.Form, strings.Join(r.Allowed, ", "))
		}
	}
	return nil
}

// allWrong are the wrong calls of all callers together.
func (t *T) allWrong(c *Case, program *rule.Program) ([]*Call, error) {
	backend := named{name: backendName}
	call := newCall(c)
	var err error
	if call.Out, err = poisoned(c, true); err != nil {
		return nil, err
	}
	if err := call.workspace(backend, c); err != nil {
		return nil, err
	}
	outputs, err := wrongOutputs(c, backend, t.env.device)
	if err != nil {
		return nil, err
	}
	scratch, err := wrongScratch(c, backend, t.env.device)
	if err != nil {
		return nil, err
	}
	faults := slices.Concat(outputs, scratch, wrongMemory(c, definition{}), wrongSizes(c, program))
	for _, one := range []named{{}, {tellsOf: &abilities{Writes: true, Elsewhere: secondDevice(t.env.device)}}} {
		faults = append(faults, wrongArguments(c, one, t.env.device)...)
	}
	var wrong []*Call
	for _, f := range faults {
		wrong = append(wrong, f.apply(call))
	}
	return wrong, nil
}

// secondDevice is one that no machine lacks.
func secondDevice(device string) string {
	if device == "cpu" {
		return "meta"
	}
	return "cpu"
}

// named is a caller that has only a name and abilities.
type named struct {
	definition
	name    string
	tellsOf *abilities
}

func (n named) Name() string { return n.name }

func (n named) tells() greeting { return greeting{Abilities: n.tellsOf} }

// noticed reports whether a wrong call has another error without the rule. Leaving a rule out may leave later ones without
// what it bound, which shows as well.
func noticed(program, without *rule.Program, call *Call, device string) (differs bool) {
	defer func() {
		if recover() != nil {
			differs = true
		}
	}()
	a, b := expect(program, call, definition{}, device), expect(without, call, definition{}, device)
	return a != nil && (b == nil || *a != *b)
}

// breakable reports whether some call can break the rule: some only bind what others use, or hold for every array.
func breakable(r rule.Rule) bool {
	switch r.Kind {
	case rule.BatchBind, rule.Let:
		return false
	case rule.Layout:
		return r.Mutated // adaptors copy other inputs
	case rule.OutSize:
		return !r.NonNegative // else no array of a test is large enough
	case rule.SizeBind:
		return r.Coef.Op != expr.OpConst || r.Coef.Value != 1 || r.Const.Op != expr.OpConst || r.Const.Value != 0
	case rule.Rank:
		return !r.AtLeast || r.Rank > 0
	}
	return true
}

// isRepeated reports whether all that a rule forbids is forbidden by earlier ones: that a mutated input lies apart from
// others, which are mutated themselves and come first.
func isRepeated(op *opdef.Op, r rule.Rule) bool {
	return r.Kind == rule.Apart && !slices.ContainsFunc(r.Others, func(name string) bool {
		i := op.InputIndex(name)
		return !op.Inputs[i].Mutated || i > op.InputIndex(r.Arg)
	})
}

// checkUpToDate reports generated files that differ from what the definition gives today.
func checkUpToDate(t *T) error {
	if t.env.stale == nil {
		return skip("the generator is not at hand")
	}
	files, err := t.env.stale(t.ctx)
	if err != nil {
		return err
	}
	t.row().done++
	for _, file := range files {
		t.Fail(nil, file, "is not what the definitions give: run `opcast gen`")
	}
	return nil
}
