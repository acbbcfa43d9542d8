package build

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// demo is a project of one op on a toy runtime: small enough to compile in a moment, and it needs neither tvm-ffi nor
// the generator.
type demo struct {
	Options
	t   *testing.T
	log bytes.Buffer
}

var demoFiles = map[string]string{
	"opcast.toml":              "name = \"demo\"\n",
	"backend/gen/scale.gen.h":  "#pragma once\nnamespace demo_ops { int Scale(int); }\n",
	"backend/gen/scale.gen.cc": "#include <ffi.h>\n#include \"scale.gen.h\"\nextern \"C\" __attribute__((visibility(\"default\"))) int __tvm_ffi_scale(int x) { return demo_ops::Scale(x) + TVMFFIHost(); }\n",
	"csrc/factor.h":            "#pragma once\ninline int Factor() { return 2; }\n",
	"csrc/scale.cc":            "#include \"factor.h\"\n#include \"opcast/kernel.h\"\n#include \"scale.gen.h\"\nint demo_ops::Scale(int x) { return x * Factor() + opcast::One(); }\n",
	"csrc/other.cc":            "#include \"opcast/kernel.h\"\nint Other() { return opcast::One(); }\n",
}

var demoRuntime = fstest.MapFS{
	"opcast/kernel.h":    {Data: []byte("#pragma once\nnamespace opcast { int One(); }\n")},
	"opcast/parallel.cc": {Data: []byte("#include \"opcast/kernel.h\"\nint opcast::One() { return 1; }\n")},
}

func newDemo(t *testing.T) *demo {
	t.Helper()
	program, err := exec.LookPath("ninja")
	if err != nil {
		if program, err = filepath.Abs(filepath.Join("..", "..", ".venv", "bin", "ninja")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(program); err != nil {
			t.Skip("no ninja on PATH or in .venv")
		}
	}
	dir, site := t.TempDir(), t.TempDir()
	for name, text := range demoFiles {
		tooltest.Write(t, filepath.Join(dir, name), text)
	}
	tooltest.Write(t, filepath.Join(site, "site", "README.txt"), "")
	tooltest.Write(t, filepath.Join(site, "include", "ffi.h"), "#include \"opcast/kernel.h\"\nextern \"C\" int TVMFFIHost();\n")
	tooltest.Write(t, filepath.Join(site, "host.cc"), "extern \"C\" int TVMFFIHost() { return 0; }\n")
	host := filepath.Join(site, "libhost.so")
	if out, err := exec.Command("c++", "-shared", "-fPIC", "-o", host, filepath.Join(site, "host.cc")).CombinedOutput(); err != nil {
		t.Skipf("no C++ compiler: %v\n%s", err, out)
	}
	d := &demo{t: t}
	d.Options = Options{
		Project: &opdef.Project{
			Dir:      dir,
			Manifest: manifest.Manifest{Name: "demo", Adaptors: []string{"torch", "numpy"}, Devices: []string{"cpu"}, Sources: []string{"csrc/*.cc"}},
			Ops:      []*opdef.Op{{Name: "scale", File: "opdefs/scale.toml", Devices: []string{"cpu"}}},
		},
		Env: &pyenv.Env{Python: "/env/bin/python", Site: filepath.Join(site, "site"), Ninja: program,
			TVMInclude: filepath.Join(site, "include"), TVMLibrary: host,
			Packages: map[string]string{"apache-tvm-ffi": "0.1", "numpy": "2.4"}},
		Runtime: demoRuntime, Getenv: func(string) string { return "" }, Log: &d.log,
	}
	return d
}

// build returns what ninja and the compiler printed.
func (d *demo) build() (*Result, diag.List, string, error) {
	d.t.Helper()
	d.log.Reset()
	result, findings, err := Run(d.t.Context(), d.Options)
	return result, findings, d.log.String(), err
}

// compiled builds, which must succeed, and returns the units that were compiled.
func (d *demo) compiled() (units []string) {
	d.t.Helper()
	_, findings, log, err := d.build()
	if err != nil || len(findings) > 0 {
		d.t.Fatalf("build: %v %v\n%s", err, findings, log)
	}
	for _, line := range strings.Split(log, "\n") {
		if _, unit, ok := strings.Cut(line, "compile "); ok {
			units = append(units, filepath.Base(unit))
		}
	}
	return units
}

func (d *demo) write(name, text string) {
	tooltest.Write(d.t, filepath.Join(d.Project.Dir, name), text)
}

func TestBuildIsIncremental(t *testing.T) {
	d := newDemo(t)
	if got := d.compiled(); len(got) != 4 {
		t.Fatalf("clean build compiled %v, want 4 units", got)
	}
	steps := []struct {
		name string
		edit func()
		want string
	}{
		{"nothing", func() {}, ""},
		{"a kernel", func() { d.write("csrc/other.cc", demoFiles["csrc/other.cc"]+"// edited\n") }, "other.cc"},
		{"a header", func() { d.write("csrc/factor.h", demoFiles["csrc/factor.h"]+"// edited\n") }, "scale.cc"},
		{"a flag of one file", func() {
			d.Project.Manifest.Files = []manifest.FileFlags{{Match: "csrc/other.cc", Flags: []string{"-O1"}}}
		}, "other.cc"},
		{"a new file", func() { d.write("csrc/new.cc", "int New() { return 3; }\n") }, "new.cc"},
		{"nothing again", func() {}, ""},
	}
	for _, s := range steps {
		s.edit()
		if got := strings.Join(d.compiled(), " "); got != s.want {
			t.Errorf("after editing %s: compiled %q, want %q", s.name, got, s.want)
		}
	}
	header := filepath.Join(d.Env.TVMInclude, "ffi.h")
	text, err := os.ReadFile(header)
	if err != nil {
		t.Fatal(err)
	}
	tooltest.Write(t, header, string(text)+"// edited\n")
	if got := strings.Join(d.compiled(), " "); got != "scale.gen.cc" {
		t.Errorf("a new tvm-ffi compiled %q, want what includes its header", got)
	}
}

func TestBuildInstalls(t *testing.T) {
	d := newDemo(t)
	result, _, log, err := d.build()
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if want := "/env/bin/python -c 'import demo_numpy'"; result.Import != want {
		t.Errorf("import %q, want %q", result.Import, want)
	}
	installed := filepath.Join(d.Project.Dir, "backend/python/src/demo_backend/lib/libdemo.so")
	before, err := os.Stat(installed)
	if err != nil {
		t.Fatal(err)
	}
	pth, err := os.ReadFile(filepath.Join(d.Env.Site, "_demo_editable.pth"))
	if err != nil || !strings.Contains(string(pth), filepath.Join(d.Project.Dir, "adaptors/numpy/src")+"\n") {
		t.Errorf("editable link: %v %q", err, pth)
	}
	if _, err := os.Stat(filepath.Join(d.Project.Dir, "build/compile_commands.json")); err != nil {
		t.Error(err)
	}
	// A namesake that was there is told of, once.
	tooltest.Write(t, filepath.Join(d.Env.Site, "_demo_editable.pth"), "/elsewhere/backend/python/src\n")
	for _, want := range []bool{true, false} {
		again, _, _, err := d.build()
		if err != nil || slices.ContainsFunc(again.Notes, func(n string) bool { return strings.Contains(n, "in /elsewhere/backend/python/src until now") }) != want {
			t.Errorf("notes %q (%v), a namesake told of: want %t", again.Notes, err, want)
		}
	}
	d.compiled()
	after, err := os.Stat(installed)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a build that did nothing replaced the installed library (%v)", err)
	}
	d.Debug = true
	if got := d.compiled(); len(got) != 4 {
		t.Errorf("the debug build compiled %v, want 4 units in a folder of its own", got)
	}
}

// The same sources give the same bytes wherever the project and the environment lie.
func TestBuildIsReproducible(t *testing.T) {
	var digests []string
	for range 2 {
		result, _, log, err := newDemo(t).build()
		if err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		digests = append(digests, result.SHA256)
	}
	if digests[0] != digests[1] {
		t.Errorf("digests differ: %v", digests)
	}
}

func TestBuildShowsCompilerErrors(t *testing.T) {
	d := newDemo(t)
	d.write("csrc/other.cc", "int Other() { return nonsense; }\n")
	_, _, log, err := d.build()
	if !errors.Is(err, errFailed) {
		t.Errorf("error %v, want %v", err, errFailed)
	}
	for _, want := range []string{"csrc/other.cc:1:22: error:", "return nonsense;"} {
		if !strings.Contains(log, want) {
			t.Errorf("log does not contain %q:\n%s", want, log)
		}
	}
}

func TestBuildWantsSources(t *testing.T) {
	d := newDemo(t)
	d.Project.Manifest.Sources = []string{"csrc/*.h"}
	if _, _, _, err := d.build(); err == nil || !strings.Contains(err.Error(), `sources ["csrc/*.h"] match no C++ file`) {
		t.Errorf("error %v", err)
	}
}

func TestJAXIsLeftOutWithANote(t *testing.T) {
	d := newDemo(t)
	d.Project.Manifest.Adaptors = []string{"jax"}
	result, _, log, err := d.build()
	if err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	if len(result.Notes) != 1 || !strings.Contains(result.Notes[0], "pip install jax==") {
		t.Errorf("notes: %q", result.Notes)
	}
}

func TestJAXLibrary(t *testing.T) {
	d := newDemo(t)
	d.Project.Manifest.Adaptors = []string{"jax"}
	d.Env.Includes = map[string]string{"jaxlib": d.Env.TVMInclude}
	d.write("adaptors/jax/csrc/xla_call.h", "#pragma once\nint Call();\n")
	d.write("adaptors/jax/csrc/xla_call.cc", "#include \"xla_call.h\"\nint Call() { return 1; }\n")
	handlers := "#include \"xla_call.h\"\n#include <ffi.h>\nextern \"C\" __attribute__((visibility(\"default\"))) int opcast_jax_run() { return Call(); }\n"
	d.write("adaptors/jax/csrc/gen/handlers.gen.cc", handlers)
	if _, findings, log, err := d.build(); err != nil || len(findings) > 0 {
		t.Fatalf("%v %v\n%s", err, findings, log)
	}
	if _, err := os.Stat(filepath.Join(d.Project.Dir, "adaptors/jax/src/demo_jax/lib/libdemo_jax.so")); err != nil {
		t.Error(err)
	}
	// A handler that reaches the backend by name could reach another version of it.
	d.write("adaptors/jax/csrc/gen/handlers.gen.cc", handlers+"extern \"C\" int __tvm_ffi_scale(int);\nint Leak() { return __tvm_ffi_scale(1); }\n")
	_, findings, log, err := d.build()
	if err != nil || len(findings) != 1 || !strings.Contains(findings[0].Text, "__tvm_ffi_scale") {
		t.Errorf("findings %v, error %v\n%s", findings, err, log)
	}
}
