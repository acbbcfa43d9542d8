package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/expr"
	"github.com/opcast/opcast/internal/report"
)

// raggedWith is the ragged toy with one kernel changed.
func raggedWith(t *testing.T, name string, change func(*opdef.Kernel)) *opdef.Op {
	t.Helper()
	op := *toyOp(t, "ragged")
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
	c, err := newCase(toyOp(t, "ragged"), plan{name: "when", dtypes: dtypes{"T": "f16"}, sizes: map[string]int64{"N": 8, "R": 3, "B": 2}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]expr.Truth{
		"N % 4 == 0": yes, "N % 16 == 0": no, "T == f16": yes, "f32 == T": no, "T != f16": no, "not T == f16": no,
		"aligned(x, 16)": unknown, "aligned(x, 16) and N > 8": no, "aligned(x, 16) or N == 8": yes, "N > 8 or T == f32": no,
		"parts == 1": yes, "N // (R - 3) > 0": unknown,
	} {
		if got := c.holds(condition(t, text)); got != want {
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
		c, err := forKernel(op, &op.Kernels[0], base(dtypes{"T": "f32"}))
		if (err == nil) != solvable {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil && c.holds(op.Kernels[0].When) == no {
			t.Errorf("%s: the sample %s misses it", text, c.Name)
		}
	}
}

// An attr is chosen where no size would do.
func TestSamplesMeetConditionsOnAttrs(t *testing.T) {
	op := *conv(t)
	k := opdef.Kernel{Name: "grouped", Device: "cpu", When: condition(t, "groups == 2 and C % 4 == 0")}
	c, err := forKernel(&op, &k, base(dtypes{"T": "f32", "O": "f32"}))
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
			caller := &fake{name: backendName}
			if test.reason != "" {
				caller.after = refuseAll("plain", test.reason)
			}
			check := &T{
				ctx: t.Context(), Op: op, Caller: caller,
				env: &environment{project: toy(t), device: "cpu", oracle: fakeOracle{}, callers: []Caller{caller}},
			}
			err := checkValue(check)
			worst := report.Pass
			for _, r := range check.results(&Check{ID: "value"}, err) {
				if r.Kernel == "plain" {
					worst = report.Worse(worst, r.Status)
				} else if r.Status != report.Pass {
					t.Errorf("%s: %s %s", r.Kernel, r.Status, r.Reason)
				}
			}
			if worst != test.want {
				t.Errorf("got %s, want %s: %+v", worst, test.want, check.rows)
			}
		})
	}
}

// Kernels for other devices are listed, as what cannot be tested here.
func TestOtherDevicesAreListed(t *testing.T) {
	op := raggedWith(t, "plain", func(*opdef.Kernel) {})
	op.Devices = []string{"cpu", "cuda"}
	op.Kernels = append(op.Kernels, opdef.Kernel{Name: "warps", Device: "cuda"})
	caller := &fake{name: backendName}
	check := &T{
		ctx: t.Context(), Op: op, Caller: caller,
		env: &environment{project: toy(t), device: "cpu", oracle: fakeOracle{}, callers: []Caller{caller}},
	}
	err := checkVariants(check)
	listed := false
	for _, r := range check.results(&Check{ID: "variants"}, err) {
		listed = listed || r.Kernel == "warps" && r.Status == report.Unsupported && strings.Contains(r.Reason, "is for cuda")
	}
	if !listed {
		t.Errorf("%v %+v", err, check.rows)
	}
}

func TestContents(t *testing.T) {
	for kind, want := range map[contents][]float64{
		lowest: {0, 0, 0, 0, 0, 0}, highest: {5, 5, 5, 5, 5, 5}, rising: {0, 1, 1, 3, 3, 5},
	} {
		p := base(dtypes{"T": "f32"})
		p.contents, p.sizes = kind, map[string]int64{"B": 5, "R": 5, "N": 2}
		c, err := newCase(toyOp(t, "ragged"), p)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Inputs[2].Floats(); !slices.Equal(got, want) {
			t.Errorf("%d: got %v, want %v", kind, got, want)
		}
		if low := slices.Min(c.Inputs[1].Floats()); low < 0 || kind == lowest && slices.Max(c.Inputs[1].Floats()) != 0 {
			t.Errorf("%d: scales from %v", kind, low)
		}
	}
}
