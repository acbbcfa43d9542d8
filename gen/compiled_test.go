package gen_test

import (
	"bytes"
	"html"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	renderhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
)

// TestAcceptedCompiles: what is generated from accepted definitions compiles, as C++ with the options of a build and as
// Python, and its pages show the authors' texts as they are written.
func TestAcceptedCompiles(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON names no Python with tvm-ffi and JAX")
	}
	t.Parallel()
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	d := &drawer{Rand: rand.New(rand.NewPCG(3, 4)), words: nastyWords(t)}
	var dirs []string
	ops, enough := 0, 200
	if testing.Short() {
		enough = 100
	}
	for ops < enough {
		p, _ := d.project(t, 25, []string{"torch", "jax", "cupy", "numpy"})
		files, err := gen.Generate(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			write(t, filepath.Join(p.Dir, f.Path), f.Content)
		}
		dirs, ops = append(dirs, p.Dir), ops+len(p.Ops)
		pages(t, p)
		compileCPP(t, p, files, env)
	}
	compilePython(t, python, dirs)
	t.Logf("%d ops", ops)
}

// compileCPP compiles the C++ of a project: every unit, and one that sees all headers and defines the kernels.
func compileCPP(t *testing.T, p *opdef.Project, files []gen.File, env *pyenv.Env) {
	t.Helper()
	cxx, err := compiler.FindCXX(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	backendDir, err := filepath.Abs("../backend")
	if err != nil {
		t.Fatal(err)
	}
	generated := filepath.Join(p.Dir, "backend", "gen")
	kernels := filepath.Join(p.Dir, "csrc", "kernels.cc")
	write(t, kernels, kernelUnit(p))
	args := slices.Concat(cxx.Words, buildOptions(t, p, files), []string{"-I", backendDir, "-I", generated, "-isystem", env.TVMInclude})
	common := filepath.Join(p.Dir, "common.h")
	write(t, common, []byte("#include <algorithm>\n#include <array>\n#include <cmath>\n#include <string_view>\n"+
		"#include \"opcast/kernel.h\"\n#include \"opcast/registry.h\"\n"))
	command(t, append(slices.Clone(args), "-x", "c++-header", common, "-o", common+".gch")...)
	units, err := filepath.Glob(filepath.Join(generated, "*.cc"))
	if err != nil || len(units) < len(p.Ops) {
		t.Fatal(units, err)
	}
	command(t, slices.Concat(args, []string{"-include", common, "-fsyntax-only", kernels}, units)...)
	callers := filepath.Join(p.Dir, "callers.cc")
	write(t, callers, []byte("#include \""+p.Manifest.Name+"/ops.h\"\n"))
	include := filepath.Join(p.Dir, "backend", "python", "src", p.Manifest.Name+"_backend", "include")
	command(t, append(slices.Clone(args), "-I", include, "-fsyntax-only", callers)...)
	if env.Includes["jaxlib"] != "" {
		jax := filepath.Join(p.Dir, "adaptors", "jax", "csrc")
		command(t, append(args, "-I", jax, "-I", "../adaptors/jax/csrc", "-isystem", env.Includes["jaxlib"], "-fsyntax-only", filepath.Join(jax, "gen", "handlers.gen.cc"))...)
	}
}

// kernelUnit is a source that includes every header and defines every kernel.
func kernelUnit(p *opdef.Project) []byte {
	var b strings.Builder
	for _, op := range p.Ops {
		b.WriteString("#include \"" + op.Name + ".gen.h\"\n")
	}
	b.WriteString("namespace " + p.Manifest.CPPNamespace() + " {\n")
	for _, op := range p.Ops {
		for _, k := range op.KernelList() {
			args := "(const " + pascal(op.Name) + "Args& args"
			body := " { return opcast::Status::Ok(); }\n"
			if len(op.DTypes) > 0 {
				body = " { return Visit(args, [](auto) { return opcast::Status::Ok(); }); }\n"
			} else {
				args = "(const " + pascal(op.Name) + "Args&"
			}
			b.WriteString("opcast::Status " + k.Functions()[0] + args + ", const opcast::Launch&)" + body)
		}
	}
	return []byte(b.String() + "}\n")
}

func pascal(name string) string {
	parts := strings.Split(name, "_")
	for i, part := range parts {
		parts[i] = strings.ToUpper(part[:1]) + part[1:]
	}
	return strings.Join(parts, "")
}

var commonFlags = regexp.MustCompile(`(?m)^common = (.*)$`)

// buildOptions are the compiler's options that a build of the project uses for every unit, but for folders.
func buildOptions(t *testing.T, p *opdef.Project, files []gen.File) (options []string) {
	t.Helper()
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	recipes, err := build.Recipes(p, backend.FS, paths)
	if err != nil || len(recipes) == 0 {
		t.Fatal(err)
	}
	compiler := commonFlags.FindSubmatch(recipes[0].Text)
	if compiler == nil {
		t.Fatalf("no options in %s", recipes[0].Text)
	}
	for word := range strings.FieldsSeq(string(compiler[1])) {
		if word = strings.Trim(word, "'"); !strings.Contains(word, "$") && !strings.HasPrefix(word, "-I") {
			options = append(options, word)
		}
	}
	return append(options, "-Werror") // as units of generated code are compiled
}

func command(t *testing.T, words ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput(); err != nil {
		const most = 4000 // an error of a template may be long
		t.Errorf("%v\n%s", err, out[:min(len(out), most)])
	}
}

// compilePython compiles every generated module, and runs those whose names could hide each other.
func compilePython(t *testing.T, python string, dirs []string) {
	t.Helper()
	const program = `
import importlib, pathlib, sys, types
for number, root in enumerate(map(pathlib.Path, sys.argv[1:])):
    for path in sorted(p for p in root.rglob("*.py*") if p.suffix in (".py", ".pyi")):
        compile(path.read_text(), str(path), "exec")
    package = types.ModuleType(f"package{number}")
    package.__path__ = [str(root / "backend/python/src/demo_backend")]
    sys.modules[package.__name__] = package
    for module in ("_gen.ops", "_gen.checks"):
        importlib.import_module(f"{package.__name__}.{module}")
`
	command(t, append([]string{python, "-W", "error", "-c", program}, dirs...)...)
}

var tags = regexp.MustCompile(`<[^>]*>`)

// pages renders the pages of a project: no author's text is HTML or markup, and all are there.
func pages(t *testing.T, p *opdef.Project) {
	t.Helper()
	for _, op := range p.Ops {
		text, err := os.ReadFile(filepath.Join(p.Dir, "docs", "ops", op.Name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		shown := render(t, op.Name, text)
		docs := []string{op.Doc, op.Reference}
		for _, a := range slices.Concat(op.Inputs, op.Outputs) {
			docs = append(docs, a.Doc)
		}
		for _, a := range op.Attrs {
			docs = append(docs, a.Doc)
		}
		for _, doc := range docs {
			if !strings.Contains(shown, oneLine(doc)) {
				t.Errorf("page of %s does not show %q:\n%s", op.Name, doc, text)
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(p.Dir, "docs", "ops", "index.md"))
	if err != nil {
		t.Fatal(err)
	}
	render(t, "index", index)
}

// render is what a page shows, on one line.
func render(t *testing.T, name string, text []byte) string {
	t.Helper()
	_, text, _ = bytes.Cut(text, []byte("\n")) // the first line is a comment
	var safe, unsafe bytes.Buffer
	for to, options := range map[*bytes.Buffer][]renderer.Option{&safe: nil, &unsafe: {renderhtml.WithUnsafe()}} {
		markdown := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(options...))
		if err := markdown.Convert(text, to); err != nil {
			t.Fatal(err)
		}
	}
	if safe.String() != unsafe.String() {
		t.Errorf("page of %s has raw HTML:\n%s", name, text)
	}
	return oneLine(html.UnescapeString(tags.ReplaceAllString(safe.String(), "")))
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
