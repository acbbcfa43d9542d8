package conformance

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/ndarray"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// conv is the toy op with arithmetic in its sizes.
func conv(t *testing.T) *opdef.Op {
	t.Helper()
	for _, op := range toy(t).Ops {
		if op.Name == "conv" {
			return op
		}
	}
	t.Fatal("no conv")
	return nil
}

func TestBaseCase(t *testing.T) {
	c, err := newCase(conv(t), base(dtypes{"T": "f32", "O": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{"B": 5, "C": 3, "H": 7, "F": 4, "R": 6}
	if diff := cmp.Diff(want, c.Sizes); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if c.Attrs["out_dtype"] != DType("float16") {
		t.Errorf("out_dtype: %v", c.Attrs["out_dtype"])
	}
	ends := c.Inputs[2].Floats()
	if len(ends) != 6 || !slices.IsSorted(ends) || ends[0] < 0 || ends[5] > 7 {
		t.Errorf("ends: %v", ends)
	}
	outputs, err := c.results()
	if err != nil || list(outputs[0].Shape) != "[5, 4, 2]" || outputs[0].DType.Short != "f16" {
		t.Errorf("outputs %v, %v", outputs, err)
	}
	if length, _ := contraction(c, slots(c.Op)[0]); length != 3*6 {
		t.Errorf("contracted length %d, want C//groups * R = 18", length)
	}
}

// Every dtype and every kernel is shown by few of the choices.
func TestCovering(t *testing.T) {
	op := conv(t)
	if all, some := combinations(op, "cpu"), covering(op, "cpu"); len(all) != 4 || len(some) != 2 || some[0]["T"] == some[1]["T"] || some[0]["O"] == some[1]["O"] {
		t.Errorf("of %v came %v", all, some)
	}
	two := *op
	two.Kernels = []opdef.Kernel{
		{Name: "narrow", Device: "cpu", DTypes: map[string][]string{"T": {"f16"}, "O": {"f32"}}}, {Name: "any", Device: "cpu"},
	}
	shown := false
	for _, d := range covering(&two, "cpu") {
		shown = shown || d["T"] == "f16" && d["O"] == "f32"
	}
	if !shown {
		t.Error("the kernel for one choice is not shown")
	}
	if some := covering(&opdef.Op{Name: "plain", Devices: []string{"cpu"}}, "cpu"); len(some) != 1 {
		t.Errorf("an op without variables has the choices %v", some)
	}
}

func TestSizesKeepConditions(t *testing.T) {
	p := base(dtypes{"T": "f32", "O": "f32"})
	p.attrs = map[string]any{"groups": int64(2)}
	c, err := newCase(conv(t), p)
	if err != nil {
		t.Fatal(err)
	}
	if c.Sizes["C"]%2 != 0 || c.Sizes["F"]%2 != 0 {
		t.Errorf("sizes %v break the conditions", c.Sizes)
	}
	p.sizes = map[string]int64{"C": 3}
	if _, err := newCase(conv(t), p); err == nil {
		t.Error("C = 3 with 2 groups was accepted")
	}
}

func TestContentsDependOnTheNameAlone(t *testing.T) {
	draw := func(name string) []byte {
		p := base(dtypes{"T": "f32", "O": "f32"})
		p.name = name
		c, err := newCase(conv(t), p)
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
	f16, i32 := lookup("f16"), lookup("i32")
	one := Bound{ULPs: 1}
	for _, test := range []struct {
		name  string
		got   *ndarray.Array
		want  []float64
		bound Bound
		text  string
	}{
		{"equal", ndarray.FromFloats(f16, []int64{2}, []float64{1, 2}), []float64{1, 2}, one, ""},
		{"half a spacing", ndarray.FromFloats(f16, []int64{1}, []float64{1}), []float64{1 + 0x1p-11}, one, ""},
		{
			"two spacings", ndarray.FromFloats(f16, []int64{1, 3}, []float64{1, 1 + 0x1p-9, 0}), []float64{1, 1, 0}, one,
			"y[0, 1]: got 1.001953125, want 1 (2 ulp, allowed 1 ulp); 1 of 3 elements differ",
		},
		{"absolute term", ndarray.FromFloats(f16, []int64{1}, []float64{0}), []float64{0.25}, Bound{ULPs: 1, Abs: 0.25}, ""},
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
		if text := compare("y", test.got, Expected{Shape: shape, Values: test.want}, test.bound); text != test.text {
			t.Errorf("%s: got %q, want %q", test.name, text, test.text)
		}
	}
}

func TestKnownFailuresAreStrict(t *testing.T) {
	known := []Known{{Op: "affine", Check: "value", Reason: "see", Link: "#7"}}
	check := &Check{ID: "value"}
	for _, test := range []struct{ before, after report.Status }{
		{report.Fail, report.Skip}, {report.Pass, report.Fail}, {report.Error, report.Error}, {report.Unsupported, report.Unsupported},
	} {
		results := []report.Result{{Op: "affine", Check: "value", Status: test.before}}
		applyKnown(known, check, results)
		if results[0].Status != test.after {
			t.Errorf("%s became %s, want %s", test.before, results[0].Status, test.after)
		}
	}
}

// A check without a result is an error, so that nothing is left out silently.
func TestHolesAreErrors(t *testing.T) {
	cells, err := (&choice{}).cells(toy(t).Ops[:1], []Caller{definition{}, &fake{name: "fake"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []report.Result
	for _, c := range cells {
		for _, check := range c.checks {
			all = append(all, report.Result{Op: c.op.Name, Adaptor: c.caller.Name(), Check: check.ID, Status: report.Skip})
		}
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
	if known, err := loadKnown(dir, "torch"); err != nil || known != nil {
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
		if _, err := loadKnown(dir, "torch"); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A reproducer holds the call: every argument, with its strides.
func TestReproduce(t *testing.T) {
	p := toy(t)
	dir := t.TempDir()
	check := &T{env: &environment{project: p, cases: dir}, Op: toyOp(t, "affine"), Caller: &fake{name: "numpy"}}
	c, err := newCase(toyOp(t, "affine"), base(dtypes{"T": "f16"}))
	if err != nil {
		t.Fatal(err)
	}
	c = c.with(0, ndarray.Layouts[0].Apply(c.Inputs[0]), "transposed")
	c.Attrs["alpha"] = 0.5
	at := &element{Slot: 0, Name: "y", Index: []int64{1, 2, 3}, Want: "0.25"}
	if line := check.reproduced(newCall(c), at, "a name", "y: got 1,\nwant 2"); !strings.Contains(line, "repeat with: python ") {
		t.Errorf("got %q", line)
	}
	if check.row().reproducer != filepath.Base(dir)+"/affine-numpy-a-name.py" {
		t.Errorf("the reproducer is %q", check.row().reproducer)
	}
	script, err := os.ReadFile(filepath.Join(dir, "affine-numpy-a-name.py"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"import toy_numpy as ops", `x = array("x", np.dtype("float16"), [2, 3, 5], [2, 4, 12], 0)`,
		`result = ops.affine(x, w, bias, alpha=float("0.5"))`, "# y: got 1,\n",
		`print("y[1, 2, 3]: got", result[1, 2, 3], "want 0.25")`,
	} {
		if !strings.Contains(string(script), want) {
			t.Errorf("the script lacks %q:\n%s", want, script)
		}
	}
}
