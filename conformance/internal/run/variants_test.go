package run

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/values"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/results/report"
)

// raggedWith is the ragged toy with one kernel changed.
func raggedWith(t *testing.T, name string, change func(*opdef.Kernel)) *opdef.Op {
	t.Helper()
	op := *fake.ToyOp(t, "ragged")
	op.Kernels = slices.Clone(op.Kernels)
	i := slices.IndexFunc(op.Kernels, func(k opdef.Kernel) bool { return k.Name == name })
	change(&op.Kernels[i])
	return &op
}

func condition(t *testing.T, text string) *expr.Expr {
	t.Helper()
	e, err := expr.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestHolds(t *testing.T) {
	c, err := cases.New(fake.ToyOp(t, "ragged"), cases.Plan{Name: "when", DTypes: cases.DTypes{"T": "f16"}, Sizes: map[string]int64{"N": 8, "R": 3, "B": 2}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]expr.Truth{
		"N % 4 == 0": expr.KnownTrue, "N % 16 == 0": expr.KnownFalse, "T == f16": expr.KnownTrue, "f32 == T": expr.KnownFalse, "T != f16": expr.KnownFalse, "not T == f16": expr.KnownFalse,
		"aligned(x, 16)": expr.Undecided, "aligned(x, 16) and N > 8": expr.KnownFalse, "aligned(x, 16) or N == 8": expr.KnownTrue, "N > 8 or T == f32": expr.KnownFalse,
		"parts == 1": expr.KnownTrue, "N // (R - 3) > 0": expr.Undecided,
	} {
		if got := c.EvalCondition(condition(t, text)); got != want {
			t.Errorf("%s: got %d, want %d", text, got, want)
		}
	}
}

// Samples of a kernel with a condition meet it; what its condition excludes has none.
func TestSamplesMeetConditions(t *testing.T) {
	for text, solvable := range map[string]bool{
		"N % 4 == 0": true, "N % 64 == 0 and R >= 128": true, "N % 4 == 0 and B == 7": true, "N < 0": false, "R * N == 1000003": false,
		"aligned(x, 16) and N == 32": true,
	} {
		op := raggedWith(t, "wide", func(k *opdef.Kernel) { k.When = condition(t, text) })
		c, err := cases.ForKernel(op, &op.Kernels[0], cases.BasePlan(cases.DTypes{"T": "f32"}))
		if (err == nil) != solvable {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && c.EvalCondition(op.Kernels[0].When) == expr.KnownFalse {
			t.Errorf("%s: the sample %s misses it", text, c.Name)
		}
	}
}

// An attr is chosen where no size would do.
func TestSamplesMeetConditionsOnAttrs(t *testing.T) {
	op := *fake.Conv(t)
	k := opdef.Kernel{Name: "grouped", Devices: []string{"cpu"}, When: condition(t, "groups == 2 and C % 4 == 0")}
	c, err := cases.ForKernel(&op, &k, cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"}))
	if err != nil || c.Attrs["groups"] != int64(2) || c.Sizes["C"]%4 != 0 {
		t.Errorf("got %v, %v", c, err)
	}
}

// A kernel that nothing reaches is a failure, one that the machine cannot run is not.
func TestUnreachedKernels(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*opdef.Kernel)
		reason string
		want   report.Status
	}{
		"the author refuses": {func(k *opdef.Kernel) { k.Supported = true }, "needs luck", report.Fail},
		"another machine":    {func(k *opdef.Kernel) { k.Arch = ">=90" }, "needs an architecture >=90; this device is sm_80", report.Unsupported},
		"not built":          {func(*opdef.Kernel) {}, "not built into this library: run opcast build --device cpu,cuda", report.Unsupported},
		"no sample": {func(k *opdef.Kernel) {
			k.When = &expr.Expr{Op: expr.OpLt, Text: "N < 0", Args: []*expr.Expr{{Op: expr.OpSymbol, Name: "N"}, {Op: expr.OpConst}}}
		}, "", report.Fail},
		"unaligned every time": {func(k *opdef.Kernel) {
			k.When = &expr.Expr{Op: expr.OpAligned, Name: "x", Args: []*expr.Expr{{Op: expr.OpConst, Value: 64}}, Text: "aligned(x, 64)"}
		}, "needs aligned(x, 64)", report.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			op := raggedWith(t, "plain", test.change)
			caller := &fake.Framework{CallerName: calls.BackendName}
			if test.reason != "" {
				caller.After = refuseAll("plain", test.reason)
			}
			c := &check.T{
				Ctx: t.Context(), Op: op, Caller: caller,
				Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{caller}},
			}
			err := values.CheckValue(c)
			worst := report.Pass
			for _, r := range c.Results(&check.Check{ID: "value"}, err) {
				if r.Kernel == "plain" {
					worst = report.Worse(worst, r.Status)
				} else if r.Status != report.Pass {
					t.Errorf("%s: %s %s", r.Kernel, r.Status, r.Reason)
				}
			}
			if worst != test.want {
				t.Errorf("got %s, want %s: %+v", worst, test.want, c.Rows)
			}
		})
	}
}

// Kernels for other devices are listed, as what cannot be tested here.
func TestOtherDevicesAreListed(t *testing.T) {
	op := raggedWith(t, "plain", func(*opdef.Kernel) {})
	op.Devices = []string{"cpu", "cuda"}
	op.Kernels = append(op.Kernels, opdef.Kernel{Name: "warps", Devices: []string{"cuda"}})
	caller := &fake.Framework{CallerName: calls.BackendName}
	c := &check.T{
		Ctx: t.Context(), Op: op, Caller: caller,
		Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{caller}},
	}
	err := values.CheckVariants(c)
	listed := false
	for _, r := range c.Results(&check.Check{ID: "variants"}, err) {
		listed = listed || r.Kernel == "warps" && r.Status == report.Unsupported && strings.Contains(r.Reason, "is for cuda")
	}
	if !listed {
		t.Errorf("%v %+v", err, c.Rows)
	}
}

func TestContents(t *testing.T) {
	for kind, want := range map[cases.Contents][]float64{
		cases.Lowest: {0, 0, 0, 0, 0, 0}, cases.Highest: {5, 5, 5, 5, 5, 5}, cases.Rising: {0, 1, 1, 3, 3, 5},
	} {
		p := cases.BasePlan(cases.DTypes{"T": "f32"})
		p.Contents, p.Sizes = kind, map[string]int64{"B": 5, "R": 5, "N": 2}
		c, err := cases.New(fake.ToyOp(t, "ragged"), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Inputs[2].Floats(); !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", kind, got, want)
		}
		if low := slices.Min(c.Inputs[1].Floats()); low < 0 || kind == cases.Lowest && slices.Max(c.Inputs[1].Floats()) != 0 {
			t.Errorf("%d: scales from %v", kind, low)
		}
	}
}

// An author is asked for a sample that misses a condition, but for one with more elements than samples may have.
func TestConditionsThatNoSampleMisses(t *testing.T) {
	for text, asked := range map[string]bool{"N >= 0": true, "N < 2**31": false, "R * N < 1000000": false} {
		caller := &fake.Framework{CallerName: calls.BackendName}
		c := &check.T{
			Ctx: t.Context(), Op: raggedWith(t, "wide", func(k *opdef.Kernel) { k.When = condition(t, text) }), Caller: caller,
			Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{caller}},
		}
		err := values.CheckVariants(c)
		if got := strings.Contains(fmt.Sprint(c.Rows), "no sample misses"); err != nil || got != asked {
			t.Errorf("%s: %v, %+v", text, err, c.Rows)
		}
	}
}
