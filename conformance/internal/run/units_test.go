package run

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/known"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
	"github.com/opcast/opcast/internal/results/report"
)

func TestBaseCase(t *testing.T) {
	c, err := cases.New(fake.Conv(t), cases.BasePlan(cases.DTypes{"T": "f32", "O": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"B": 5, "C": 3, "H": 7, "F": 4, "R": 6}
	if diff := cmp.Diff(want, c.Sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if c.Attrs["out_dtype"] != cases.DType("float16") {
		t.Errorf("out_dtype: %v", c.Attrs["out_dtype"])
	}
	ends := c.Inputs[2].Floats()
	if len(ends) != 6 || !slices.IsSorted(ends) || ends[0] < 0 || ends[5] > 7 {
		t.Errorf("ends: %v", ends)
	}
	outputs, err := c.ZeroResults()
	if err != nil || rule.List(outputs[0].Shape) != "[5, 4, 2]" || outputs[0].DType.Short != "f16" {
		t.Errorf("outputs %v, %v", outputs, err)
	}
	if length, _ := oracle.Contraction(c, cases.Slots(c.Op)[0]); length != 3*6 {
		t.Errorf("contracted length %d, want C//groups * R = 18", length)
	}
}

// Every dtype and every kernel is shown by few of the choices.
func TestCovering(t *testing.T) {
	op := fake.Conv(t)
	if all, some := cases.SupportedDTypes(op, "cpu"), cases.CoveringDTypes(op, "cpu"); len(all) != 4 || len(some) != 2 || some[0]["T"] == some[1]["T"] || some[0]["O"] == some[1]["O"] {
		t.Errorf("of %v came %v", all, some)
	}
	two := *op
	two.Kernels = []opdef.Kernel{
		{Name: "narrow", Devices: []string{"cpu"}, DTypes: map[string][]string{"T": {"f16"}, "O": {"f32"}}}, {Name: "any", Devices: []string{"cpu"}},
	}
	shown := false
	for _, d := range cases.CoveringDTypes(&two, "cpu") {
		shown = shown || d["T"] == "f16" && d["O"] == "f32"
	}
	if !shown {
		t.Error("the kernel for one choice is not shown")
	}
	if some := cases.CoveringDTypes(&opdef.Op{Name: "plain", Devices: []string{"cpu"}}, "cpu"); len(some) != 1 {
		t.Errorf("an op without variables has the choices %v", some)
	}
}

func TestSizesKeepConditions(t *testing.T) {
	p := cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"})
	p.Attrs = map[string]any{"groups": int64(2)}
	c, err := cases.New(fake.Conv(t), p)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sizes["C"]%2 != 0 || c.Sizes["F"]%2 != 0 {
		t.Errorf("sizes %v break the conditions", c.Sizes)
	}
	p.Sizes = map[string]int64{"C": 3}
	if _, err := cases.New(fake.Conv(t), p); err == nil {
		t.Error("C = 3 with 2 groups was accepted")
	}
}

func TestContentsDependOnTheNameAlone(t *testing.T) {
	draw := func(name string) []byte {
		p := cases.BasePlan(cases.DTypes{"T": "f32", "O": "f32"})
		p.Name = name
		c, err := cases.New(fake.Conv(t), p)
		if err != nil {
			t.Fatal(err)
		}
		return c.Inputs[0].Data
	}
	if !slices.Equal(draw("a"), draw("a")) || slices.Equal(draw("a"), draw("b")) {
		t.Error("the contents depend on something else")
	}
}

func TestCompare(t *testing.T) {
	f16, i32 := dtype.Must("f16"), dtype.Must("i32")
	one := oracle.Tolerance{ULPs: 1}
	for _, test := range []struct {
		name  string
		got   *ndarray.Array
		want  []float64
		bound oracle.Tolerance
		text  string
	}{
		{"equal", ndarray.FromFloats(f16, []int64{2}, []float64{1, 2}), []float64{1, 2}, one, ""},
		{"half a spacing", ndarray.FromFloats(f16, []int64{1}, []float64{1}), []float64{1 + 0x1p-11}, one, ""},
		{
			"two spacings", ndarray.FromFloats(f16, []int64{1, 3}, []float64{1, 1 + 0x1p-9, 0}), []float64{1, 1, 0}, one,
			"y[0, 1]: got 1.001953125, want 1 (2 ulp, allowed 1 ulp); 1 of 3 elements differ",
		},
		{"absolute term", ndarray.FromFloats(f16, []int64{1}, []float64{0}), []float64{0.25}, oracle.Tolerance{ULPs: 1, Abs: 0.25}, ""},
		{"NaN", ndarray.FromFloats(f16, []int64{1}, []float64{math.NaN()}), []float64{1}, one,
			"y[0]: got NaN, want 1 (+Inf ulp, allowed 1 ulp); 1 of 1 elements differ"},
		{"integers", ndarray.FromFloats(i32, []int64{1}, []float64{3}), []float64{4}, one,
			"y[0]: got 3, want 4 (1 ulp, allowed 1 ulp); 1 of 1 elements differ"},
		{"shape", ndarray.New(f16, []int64{1}), []float64{0, 0}, one, "y: got shape [1], the reference has [2]"},
	} {
		shape := test.got.Shape
		if test.name == "shape" {
			shape = []int64{2}
		}
		if text := oracle.Compare("y", test.got, oracle.Expected{Shape: shape, Values: test.want}, test.bound); text != test.text {
			t.Errorf("%s: got %q, want %q", test.name, text, test.text)
		}
	}
}

func TestKnownFailuresAreStrict(t *testing.T) {
	expected := []known.Failure{{Op: "affine", Check: "value", Reason: "see", Link: "#7"}}
	check := &check.Check{ID: "value"}
	for _, test := range []struct{ before, after report.Status }{
		{report.Fail, report.Skip}, {report.Pass, report.Fail}, {report.Error, report.Error}, {report.Unsupported, report.Unsupported},
	} {
		results := []report.Result{{Op: "affine", Check: "value", Status: test.before}}
		known.Apply(expected, check, results)
		if results[0].Status != test.after {
			t.Errorf("%s became %s, want %s", test.before, results[0].Status, test.after)
		}
	}
}

// A check without a result is an error, so that nothing is left out silently.
func TestHolesAreErrors(t *testing.T) {
	cells, err := (&choice{}).cells(fake.Toy(t).Ops[:1], toyCallers()[:2], nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []report.Result
	for c, check := range specs(cells) {
		all = append(all, report.Result{Op: c.Op.Name, Adaptor: c.Caller, Check: check.ID, Status: report.Skip})
	}
	if holes := missingResults(cells, all); holes != nil {
		t.Errorf("holes in a full report: %v", holes)
	}
	holes := missingResults(cells, all[1:])
	if len(holes) != 1 || holes[0].Check != all[0].Check || holes[0].Status != report.Error {
		t.Errorf("got %v", holes)
	}
}

func TestLoadKnown(t *testing.T) {
	dir := t.TempDir()
	if known, err := known.Load(dir, "torch"); err != nil || known != nil {
		t.Errorf("without a file: %v, %v", known, err)
	}
	path := filepath.Join(dir, "conformance", "known", "torch.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for text, good := range map[string]bool{
		"[[known]]\nop = \"a\"\ncheck = \"value\"\nreason = \"r\"\n": true,
		"[[known]]\nop = \"a\"\ncheck = \"value\"\n":                 false,
		"[[known]]\nopp = \"a\"\n":                                   false,
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := known.Load(dir, "torch"); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A reproducer holds the call: every argument, with its strides.
func TestReproduce(t *testing.T) {
	p := fake.Toy(t)
	dir := t.TempDir()
	one := &check.T{Env: &check.Environment{Project: p, ReproducerDir: dir}, Op: fake.ToyOp(t, "affine"), Caller: &fake.Framework{CallerName: "numpy"}}
	c, err := cases.New(fake.ToyOp(t, "affine"), cases.BasePlan(cases.DTypes{"T": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	c = c.With(0, ndarray.Layouts[0].Apply(c.Inputs[0]), "transposed")
	c.Attrs["alpha"] = 0.5
	at := &check.Element{Slot: 0, Name: "y", Index: []int64{1, 2, 3}, Want: "0.25"}
	if line := one.Reproduced(calls.New(c), at, "a name", "y: got 1,\nwant 2"); !strings.Contains(line, "repeat with: python ") {
		t.Errorf("got %q", line)
	}
	if one.CurrentRow().Reproducer != filepath.Base(dir)+"/affine-numpy-a-name.py" {
		t.Errorf("the reproducer is %q", one.CurrentRow().Reproducer)
	}
	script, err := os.ReadFile(filepath.Join(dir, "affine-numpy-a-name.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"import toy_numpy as ops", `x = array("x", np.dtype("float16"), [2, 3, 5], [2, 4, 12], 0)`,
		`result = ops.affine(x=x, w=w, bias=bias, alpha=float("0.5"))`, "# y: got 1,\n",
		`print("y[1, 2, 3]: got", result[1, 2, 3], "want 0.25")`,
	} {
		if !strings.Contains(string(script), want) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
}
