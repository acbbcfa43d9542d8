package opdef

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/opdef/projectfs"
	"github.com/opcast/opcast/internal/opdef/tomldoc"
)

// FuzzLoad feeds any text as a definition and as a manifest. Nothing may panic, every diagnostic points into its file,
// the result does not depend on the order of maps, and a definition without mistakes obeys the model's promises.
func FuzzLoad(f *testing.F) {
	seeds, err := filepath.Glob("../../opdefs/*/*.toml")
	if err != nil || len(seeds) == 0 {
		f.Fatal("no definitions to start from", err)
	}
	scripts, err := filepath.Glob("../../cmd/opcast/testdata/script/check_*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(seeds, scripts...) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		text := string(data)
		if _, rest, ok := strings.Cut(text, ".toml --\n"); ok {
			text, _, _ = strings.Cut(rest, "\n-- ")
		}
		f.Add(text)
	}
	f.Add(everything)
	f.Add(gradientText)
	project, err := projectfs.Open(f.TempDir(), projectfs.DefinitionsDir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		op, diags := loadText(project, text)
		again, diagsAgain := loadText(project, text)
		if !slices.Equal(diags, diagsAgain) || !reflect.DeepEqual(op, again) {
			t.Fatalf("two results: %v and %v", diags, diagsAgain)
		}
		_, asGradient := loadText(project, text, forwardOp())
		for _, d := range slices.Concat(diags, asGradient) {
			checkPosition(t, text, d)
		}
		if len(diags) == 0 && op != nil {
			checkModel(t, op)
		}
	})
}

// loadText reads a definition, beside others, and the same text as a manifest, whose diagnostics are left out of the result.
func loadText(project *projectfs.Tree, text string, forward ...*Op) (*Op, diag.List) {
	var diags, ignored diag.List
	p := &Project{}
	if doc := tomldoc.Parse(manifest.File, []byte(text), &ignored); doc != nil {
		p.Manifest = manifest.Check(doc, project.Leaves, &ignored)
	}
	doc := tomldoc.Parse("opdefs/demo.toml", []byte(text), &diags)
	if doc == nil {
		return nil, diags
	}
	op := &Op{Name: "demo", File: "opdefs/demo.toml", Devices: []string{"cpu"}}
	checkOp(op, doc, "", &diags)
	p.Ops = append([]*Op{op}, forward...)
	checkProject(p, &diags)
	return op, slices.DeleteFunc(diags.Sorted(), func(d diag.Diagnostic) bool { return d.File != op.File })
}

// forwardOp is an op whose gradient the fuzzed definition claims to be.
func forwardOp() *Op {
	var ignored diag.List
	op := &Op{Name: "forward", File: "opdefs/forward.toml"}
	checkOp(op, tomldoc.Parse(op.File, []byte(forwardText), &ignored), "", &ignored)
	return op
}

const forwardText = `doc = "Forward."
kind = 65535
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*, N]", doc = "A." }, { name = "b", type = "T[N]", optional = true, doc = "A." }]
attrs = [{ name = "eps", type = "float", default = "N ** -1", doc = "A." }]
outputs = [{ name = "y", type = "T[*, N]", doc = "A." }, { name = "s", type = "f32[*]", saved = true, doc = "A." }]
backward = "demo"
reference = "return x"
`

// gradientText is such a definition.
const gradientText = `doc = "Gradient."
kind = 1
dtypes = { T = ["f32"] }
inputs = [
  { name = "grad_y", type = "T[*, N]", doc = "A." }, { name = "x", type = "T[*, N]", doc = "A." },
  { name = "s", type = "f32[*]", doc = "A." }, { name = "b", type = "T[N]", optional = true, doc = "A." },
]
attrs = [{ name = "eps", type = "float", default = "N ** -1", doc = "A." }]
outputs = [{ name = "grad_x", type = "T[*, N]", doc = "A." }, { name = "grad_b", type = "T[N]", present_if = "b", doc = "A." }]
sums = ["*"]
reference = "return x"
`

func checkPosition(t *testing.T, text string, d diag.Diagnostic) {
	t.Helper()
	lines := bytes.Split([]byte(text), []byte("\n"))
	if d.Line < 1 || d.Line > len(lines) || d.Col < 1 || d.Col > len(lines[d.Line-1])+2 || d.File == "" || d.Code == "" || d.Text == "" {
		t.Errorf("position of %q", d)
	}
	if strings.ContainsAny(d.Text, "\n\r") {
		t.Errorf("text of %q", d)
	}
}

// checkModel checks what emitters rely on.
func checkModel(t *testing.T, op *Op) {
	t.Helper()
	dims := 0
	for _, in := range op.Inputs {
		dims += len(in.Type.Dims)
	}
	if len(op.Steps) != dims || len(op.Inputs) == 0 || op.Inputs[0].Optional || op.Kind < 0 || op.Reference == "" {
		t.Errorf("model: %+v", op)
	}
	bound := map[string]bool{}
	for _, a := range op.Attrs {
		bound[a.Name] = true
	}
	for _, s := range op.Steps {
		if s.Expr == nil {
			continue
		}
		needs := s.Expr.Symbols()
		if s.Kind == BindSize {
			bound[s.Symbol] = true
		}
		for _, name := range needs {
			if !bound[name] {
				t.Errorf("%s is not bound in %q", name, s.Expr.Text)
			}
		}
	}
	for _, let := range op.Lets {
		for _, name := range let.Expr.Symbols() {
			if !bound[name] {
				t.Errorf("let %s comes before %s", let.Name, name)
			}
		}
		bound[let.Name] = true
	}
	if len(op.Kernels) == 0 && len(op.KernelList()) != len(op.Devices) {
		t.Error("no kernel for some device")
	}
}
