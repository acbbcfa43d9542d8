package load

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
)

const testManifest = `name = "demo"
version = "0.1.0"
license = "MIT"
devices = ["cpu", "cuda"]
`

// write makes a project of the given files and returns its folder.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// load loads one op without mistakes.
func load(t *testing.T, text string) *opdef.Op {
	t.Helper()
	p, diags, err := Load(write(t, map[string]string{manifest.File: testManifest, "opdefs/family/demo.toml": text}))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Error(d)
	}
	return p.Ops[0]
}

// with completes a definition around its inputs and outputs, one "name: type" each: optional inputs with a "?", lists of
// arrays with a "+", after which outputs name their list.
func with(inputs, outputs, more string) string {
	list := func(key, args string) string {
		var b strings.Builder
		for arg := range strings.SplitSeq(args, "; ") {
			name, kind, _ := strings.Cut(arg, ": ")
			extra := ""
			if strings.HasSuffix(name, "?") {
				name, extra = strings.TrimSuffix(name, "?"), "optional = true, "
			}
			if before, of, isList := strings.Cut(name, "+"); isList {
				name, extra = before, "list = true, "
				if key == "outputs" {
					extra = fmt.Sprintf("list = %q, ", of)
				}
			}
			fmt.Fprintf(&b, "  { name = %q, type = %q, %sdoc = \"Values.\" },\n", name, kind, extra)
		}
		return key + " = [\n" + b.String() + "]\n"
	}
	return "doc = \"Test.\"\nkind = 0\ndtypes = { T = [\"f32\"] }\n" + list("inputs", inputs) + list("outputs", outputs) + more + "\nreference = \"return x\"\n"
}

// TestRepository loads this project's own definitions.
func TestRepository(t *testing.T) {
	p, diags, err := Load("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range diags {
		t.Error(d)
	}
	if len(p.Ops) < 8 {
		t.Errorf("%d ops", len(p.Ops))
	}
	if !slices.IsSortedFunc(p.Ops, func(a, b *opdef.Op) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("ops are not sorted by name")
	}
}

// everything is a definition with nearly every key.
const everything = `doc = "Everything."
kind = 7
dtypes = { U = ["f32", "f16"], T = ["f32"] }
inputs = [
  { name = "a", type = "T[*, M, K]", stride = "last", min = 0, max = "2*K", sorted = true, doc = "A." },
  { name = "b", type = "i32[]", optional = true, doc = "B." },
]
attrs = [
  { name = "alpha", type = "float", default = 1, min = 0, doc = "C." },
  { name = "pair",  type = "int[2]", default = 1, min = 1, doc = "D." },
  { name = "steps", type = "int[]", default = [1, 2], doc = "E." },
  { name = "scale", type = "float", default = "K ** -0.5", doc = "F." },
  { name = "dst",   type = "dtype", binds = "U", default = "T", doc = "G." },
]
let.P = "Q * 2"
let.Q = "M // pair[0]"
require = ["K % 2 == 0"]
outputs = [{ name = "c", type = "U[*, P]", doc = "H.", lse = { base = "2", empty = "-inf" } }]
scratch = [{ name = "part", type = "f32[Q, M]", zeroed = true }]
samples = { K = [2, 4], alpha = [1, 0.5] }
tolerance.f16 = { rtol = 1e-2, atol = 0 }
deterministic = false
since = "0.1"
deprecated = "use demo2; removed in 0.5"
reference = "return a"
[[kernels]]
name = "fast"
device = "cuda"
arch = ">=90"
dtypes = { U = "f16" }
when = "U != f32 and aligned(a, 16)"
[[kernels]]
name = "demo"
device = "cpu"
`

func TestModel(t *testing.T) {
	op := load(t, everything)
	a, attrs := op.Inputs[0], op.Attrs
	got := []any{
		op.Name, op.Family, op.File, op.Kind, op.DTypes[0].Name, op.DTypes[1].OneOf, a.Stride, a.Max.Text, a.Sorted, a.Type.Dims[2].Expr.Col,
		op.Inputs[1].Type.DType, len(op.Inputs[1].Type.Dims), attrs[0].Default, attrs[0].Min, attrs[1].Default, attrs[1].Len, attrs[2].Len,
		attrs[3].DefaultExpr.Text, attrs[3].HasDefault, attrs[4].Default, op.Lets[0].Name, op.Lets[1].Name, op.Requires[0].Text, op.Outputs[0].LSE.Base,
		op.Scratch[0].Zeroed, op.Samples["alpha"], op.Tolerance["f16"].RTol, op.Deterministic, op.HasBatch(), op.InputIndex("b"), op.InputIndex("c"),
		op.KernelList()[0].DTypes["U"], op.Pos["inputs[1].type"],
	}
	want := []any{
		"demo", "family", "opdefs/family/demo.toml", 7, "T", []string{"f32", "f16"}, "last", "2*K", true, 8,
		"i32", 0, 1.0, 0.0, []int64{1, 1}, 2, -1,
		"K ** -0.5", true, "T", "Q", "P", "K % 2 == 0", "2",
		true, []any{1.0, 0.5}, 1e-2, false, true, 1, -1,
		[]string{"f16"}, diag.Pos{File: "opdefs/family/demo.toml", Line: 6, Col: 24},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultKernels(t *testing.T) {
	op := load(t, with("x: T[N]", "y: T[N]", ""))
	want := []opdef.Kernel{{Name: "demo", Devices: []string{"cpu"}}, {Name: "demo_cuda", Devices: []string{"cuda"}}}
	if diff := cmp.Diff(want, op.KernelList()); diff != "" {
		t.Error(diff)
	}
}

// Adaptors align what no kernel takes as it lies.
func TestAlignment(t *testing.T) {
	kernel := func(keys string) string { return "\n[[kernels]]\nname = \"k" + fmt.Sprint(len(keys)) + "\"\n" + keys }
	fast := kernel("device = \"cuda\"\nwhen = \"N > 2 and aligned(x, 16) and aligned(y, 32)\"")
	for name, test := range map[string]struct {
		inputs, kernels string
		want            int64
	}{
		"the only kernel":          {"x: T[N]", fast, 16},
		"no kernel asks":           {"x: T[N]", kernel(`device = "cuda"`), 1},
		"another takes it":         {"x: T[N]", fast + kernel(`device = "cuda"`), 1},
		"another for other dtypes": {"x: T[N]", fast + kernel("device = \"cuda\"\ndtypes = { T = \"f32\" }"), 16},
		"another device":           {"x: T[N]", fast + kernel(`device = "cpu"`), 16},
		"another for new machines": {"x: T[N]", fast + kernel("device = \"cuda\"\narch = \">=90\""), 16},
		"another for few rows":     {"x: T[N]", fast + kernel("device = \"cuda\"\nwhen = \"N <= 2\""), 16},
		"another asks for less":    {"x: T[N]", fast + kernel("device = \"cuda\"\nwhen = \"aligned(x, 8)\""), 8},
		"more than frameworks do":  {"x: T[N]", kernel("device = \"cuda\"\nwhen = \"aligned(x, 32)\""), 1},
		"one side of an or":        {"x: T[N]", kernel("device = \"cuda\"\nwhen = \"N > 2 or aligned(x, 16)\""), 1},
	} {
		op := load(t, with(test.inputs, "y: T[N]", "")+test.kernels)
		if got := op.Alignment(&op.Inputs[0]); got != test.want {
			t.Errorf("%s: aligned to %d, want %d", name, got, test.want)
		}
	}
}

func TestManifestDefaults(t *testing.T) {
	p, diags, err := Load(write(t, map[string]string{manifest.File: "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n"}))
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	if diff := cmp.Diff([]string{"torch", "jax", "cupy", "numpy"}, p.Manifest.Adaptors); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"cpu"}, p.Manifest.Devices); diff != "" {
		t.Error(diff)
	}
	if !filepath.IsAbs(p.Dir) || len(p.Ops) != 0 {
		t.Error(p.Dir, p.Ops)
	}
}

// TestBoundary: nothing outside the project is read.
func TestBoundary(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.toml")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{
		manifest.File:         testManifest + "sources = [\"link/*.cc\", \"csrc/*.cc\"]\n",
		"opdefs/large.toml":   strings.Repeat("#", projectfs.MaxFile+1),
		"opdefs/a.toml/b.txt": "",
		"csrc/fine.cc":        "",
		"opdefs/demo.toml":    strings.Replace(with("x: T[N]", "y: T[N]", ""), "reference", "#", 1),
		"opdefs/.hidden.toml": "not read",
	})
	for link, target := range map[string]string{
		"opdefs/link.toml": secret, "opdefs/folder": filepath.Dir(secret), "opdefs/demo.py": secret, "link": filepath.Dir(secret), "csrc/far.cc": secret,
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	_, diags, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range diags {
		got = append(got, d.File+" "+d.Code)
	}
	want := []string{
		"opcast.toml E050", "opcast.toml E050", "opdefs/demo.py E047", "opdefs/demo.toml E037",
		"opdefs/folder E047", "opdefs/large.toml E047", "opdefs/link.toml E047",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A neighbouring file may have the reference, or stand beside one that is given.
func TestNeighbour(t *testing.T) {
	inline := with("x: T[N]", "y: T[N]", "")
	without := strings.Replace(inline, "reference", "#", 1)
	for name, test := range map[string]struct{ text, module, want string }{
		"a reference":            {without, "def reference(x):\n    return x\n", ""},
		"two":                    {inline, "def reference(x):\n    return x\n", "E037"},
		"samples beside one":     {inline, "def samples(rng, sizes):\n    return {}\n", ""},
		"a formula beside one":   {inline, "def independent(x):\n    return x\n", ""},
		"a formula and no other": {without, "def independent(x):\n    return x\n", "E038"},
		"nothing of use":         {inline, "def refrence(x):\n    return x\n", "E038"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string]string{manifest.File: testManifest, "opdefs/demo.toml": test.text, "opdefs/demo.py": test.module})
			p, diags, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, d := range diags {
				got += d.Code
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" && p.Ops[0].Module != test.module {
				t.Errorf("the module is %q", p.Ops[0].Module)
			}
		})
	}
}

// TestGradientLink: both ends point at each other, and a gradient that fits has no mistakes.
func TestGradientLink(t *testing.T) {
	p, diags, err := Load(write(t, map[string]string{
		manifest.File: testManifest, "opdefs/forward.toml": forwardText, "opdefs/demo.toml": gradientText,
	}))
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	gradient, forward := p.Ops[0], p.Ops[1]
	if forward.Gradient != gradient || gradient.GradientOf != forward || forward.GradientOf != nil || gradient.Gradient != nil {
		t.Errorf("got %v and %v", forward.Gradient, gradient.GradientOf)
	}
}
