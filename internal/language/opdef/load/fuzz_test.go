package load_test

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// What reading one text may take: seconds of processors, so that a busy machine does not count, and bytes.
const mostSeconds, mostBytes = 2, 256 << 20

// FuzzLoad feeds any text as a definition and as a manifest. Nothing may panic, or take more than some time and memory, every
// diagnostic points into its file, the result does not depend on the order of maps, and a definition without mistakes obeys
// the model's promises and can be generated.
func FuzzLoad(f *testing.F) {
	for _, text := range definitions(f, "../../../..") {
		f.Add(text)
	}
	f.Add(load.Everything)
	f.Add(load.GradientText)
	for _, text := range []string{
		"name = 'demo'\nversion = '0.1.0'\nlicense = 'MIT'\ndevices = ['cpu', 'cuda']\nadaptors = ['torch']\nsources = ['csrc/*.cc']\n" +
			"include = ['inc']\ndefines = ['A=1']\nretired = [1]\n[cuda]\narch = ['80', '90+PTX']\n[[files]]\nmatch = '**/*.cc'\nflags = ['-O1']\n" +
			"[headers.x]\npip = 'x'\ninclude = 'inc'\n",
		strings.Repeat("a.", 5000) + "b = 1", "a = " + strings.Repeat("[{a=", 5000), "[" + strings.Repeat("a", 5000) + "]\nb = 1",
	} {
		f.Add(text)
	}
	project, err := projectfs.Open(f.TempDir(), projectfs.DefinitionsDir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var op *opdef.Op
		var diags diag.List
		bounded(t, "definition", func() { op, diags = load.LoadText(project, text) })
		bounded(t, "manifest", func() {
			var mistakes diag.List
			if doc := tomldoc.Parse(manifest.File, []byte(text), &mistakes); doc != nil {
				manifest.Check(doc, func(string) string { return "" }, &mistakes)
			}
			for _, d := range mistakes {
				checkPosition(t, text, d)
			}
		})
		again, diagsAgain := load.LoadText(project, text)
		if !slices.Equal(diags, diagsAgain) || !reflect.DeepEqual(op, again) {
			t.Fatalf("two results: %v and %v", diags, diagsAgain)
		}
		_, asGradient := load.LoadText(project, text, load.ForwardOp())
		for _, d := range slices.Concat(diags, asGradient) {
			checkPosition(t, text, d)
		}
		if len(diags) == 0 && op != nil {
			checkModel(t, op)
			checkGenerates(t, op)
		}
	})
}

// bounded does something within the limits.
func bounded(t *testing.T, what string, body func()) {
	t.Helper()
	var before, after runtime.MemStats
	var begin, end syscall.Rusage
	runtime.ReadMemStats(&before)
	errBegin := syscall.Getrusage(syscall.RUSAGE_SELF, &begin)
	body()
	if err := cmp.Or(errBegin, syscall.Getrusage(syscall.RUSAGE_SELF, &end)); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	seconds := float64(end.Utime.Nano()+end.Stime.Nano()-begin.Utime.Nano()-begin.Stime.Nano()) / 1e9
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > mostBytes || seconds > mostSeconds {
		t.Errorf("%s: it took %.1f s of processors and %d MiB", what, seconds, bytes>>20)
	}
}

// definitions are the texts of all definitions below a folder, those in archives of tests, too.
func definitions(f *testing.F, root string) (texts []string) {
	f.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "build" || len(d.Name()) > 2 && d.Name()[0] == '.' && d.Name() != ".."):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".txtar") && (!strings.HasSuffix(name, ".toml") || !strings.Contains(name, "/opdefs/")):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, ".toml") {
			texts = append(texts, string(text))
			return nil
		}
		for _, file := range txtar.Parse(text).Files {
			if strings.HasSuffix(file.Name, ".toml") && strings.Contains(file.Name, "opdefs/") {
				texts = append(texts, string(file.Data))
			}
		}
		return nil
	})
	if err != nil || len(texts) < 100 {
		f.Fatalf("%d definitions to start from: %v", len(texts), err)
	}
	return texts
}

// checkGenerates generates a project that has only the given op.
func checkGenerates(t *testing.T, op *opdef.Op) {
	t.Helper()
	project := &opdef.Project{Ops: []*opdef.Op{op}, Manifest: manifest.Manifest{
		Name: "demo", Version: "0.1.0", License: "MIT", Adaptors: framework.Defaults(), Devices: op.Devices,
	}}
	if _, err := gen.Generate(project); err != nil {
		t.Errorf("generate: %v", err)
	}
}

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
func checkModel(t *testing.T, op *opdef.Op) {
	t.Helper()
	dims := 0
	for _, in := range op.Inputs {
		dims += len(in.Type.Dims)
	}
	read := map[[2]int]bool{} // a dim that attributes choose is read by several steps
	for _, s := range op.Steps {
		read[[2]int{s.Input, s.Dim}] = true
	}
	if len(read) != dims || len(op.Inputs) == 0 || op.Inputs[0].Optional || op.Kind < 0 || op.Reference == "" {
		t.Errorf("model: %+v", op)
	}
	bound := map[string]bool{}
	for _, a := range op.Attrs {
		bound[a.Name] = true
	}
	for _, list := range op.Lists() { // their lengths
		bound[list] = true
	}
	for _, s := range op.Steps {
		if s.Expr == nil {
			continue
		}
		needs := s.Expr.Symbols()
		if s.Kind == opdef.BindSize {
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
