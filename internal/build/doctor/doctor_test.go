package doctor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// A framework that is not installed, or too old, is absent, and the remedy installs it.
func TestFrameworks(t *testing.T) {
	torch, _ := framework.ByName("torch")
	for name, tt := range map[string]struct{ version, state string }{
		"none": {"", Absent}, "old": {"1.0", Absent}, "new": {"99.0", Works},
	} {
		env := &pyenv.Env{Python: "python", Packages: map[string]string{"torch": tt.version}}
		got := frameworks(env, []string{"torch"})
		if len(got) != 1 || got[0].State != tt.state || got[0].Subject != torch.Title || (got[0].Remedy == "") != (tt.state == Works) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Everything that is missing is named, and the remedy brings all of it.
func TestRequirements(t *testing.T) {
	jax, _ := framework.ByName("jax")
	cupy, _ := framework.ByName("cupy")
	for name, tt := range map[string]struct {
		adaptor      string
		packages     map[string]string
		text, remedy string
	}{
		"both": {"jax", nil, "no jax and no numpy: nothing can be tested in it", "python -m pip install jax==" + jax.Pins["jax"] + " numpy==2.4.6"},
		"one":  {"jax", map[string]string{"numpy": "2.4.6"}, "no jax: nothing can be tested in it", "python -m pip install jax==" + jax.Pins["jax"]},
		"old and none": {"jax", map[string]string{"jax": "0.7.1"}, "jax 0.7.1, and it needs >=0.7.2; no numpy: nothing can be tested in it",
			"python -m pip install jax==" + jax.Pins["jax"] + " numpy==2.4.6"},
		"own":       {"cupy", nil, "not installed: nothing can be tested in it", cupy.Note},
		"another's": {"cupy", map[string]string{"cupy-cuda13x": "14.2.0"}, "no numpy: nothing can be tested in it", "python -m pip install numpy==2.4.6"},
	} {
		got := frameworks(&pyenv.Env{Python: "python", Packages: tt.packages}, []string{tt.adaptor})
		if len(got) != 1 || got[0].Text != tt.text || got[0].Remedy != tt.remedy {
			t.Errorf("%s: %+v, want %q and %q", name, got, tt.text, tt.remedy)
		}
	}
}

// A tvm-ffi that packages do not accept does not count as there.
func TestRuntime(t *testing.T) {
	for have, want := range map[string]string{
		"0.1.13": Works, "0.1.15.post2": Works, "0.1.9": Lacks, "0.1.13rc1": Lacks, "0.2.0": Lacks, "": Lacks, "unknown": Works,
	} {
		env := &pyenv.Env{Python: "python", Packages: map[string]string{"apache-tvm-ffi": have, "numpy": "2.4.6", "ml-dtypes": "0.6.0"}}
		got := packages(env)[0]
		if got.Subject != "apache-tvm-ffi" || got.State != want || (got.Remedy == "") != (want == Works) {
			t.Errorf("%q: %+v", have, got)
		}
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: Works, filepath.Join(dir, "not", "yet"): Works, file: Lacks, filepath.Join(file, "below"): Lacks,
	} {
		if got := writable("x", path, Lacks, "y"); got.State != want || (got.Remedy == "") != (want == Works) {
			t.Errorf("%s: %+v", path, got)
		}
	}
}

// A cache into which others can write is none.
func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	q := Query{Getenv: func(name string) string { return map[string]string{"OPCAST_CACHE_DIR": dir}[name] }}
	if got := cacheFolder(q); got.State != Works {
		t.Errorf("%+v", got)
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if got := cacheFolder(q); got.State != Absent || got.Text != "others can write into "+dir {
		t.Errorf("%+v", got)
	}
}

// The environment of the tests has what every build needs, and a machine without it is told what to do.
func TestLook(t *testing.T) {
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		t.Skip("OPCAST_TEST_PYTHON is not set")
	}
	q := Query{Python: python, Dir: t.TempDir(), Manifest: manifest.Manifest{Adaptors: framework.Defaults()}, Getenv: os.Getenv}
	for _, f := range Look(t.Context(), q) {
		if f.State == Lacks {
			t.Errorf("%+v", f)
		}
	}
	q.Python, q.Getenv = "nowhere", func(name string) string { return map[string]string{"CXX": "no-such-compiler"}[name] }
	lacks := slices.DeleteFunc(Look(t.Context(), q), func(f Finding) bool { return f.State != Lacks })
	if len(lacks) != 2 || lacks[0].Subject != "C++ compiler" || lacks[1].Subject != "Python" {
		t.Errorf("%+v", lacks)
	}
}

// A framework that its package cannot require is there under any of its own names.
func TestUnlisted(t *testing.T) {
	for _, fw := range framework.All() {
		if fw.Note == "" {
			continue
		}
		env := &pyenv.Env{Python: "python", Packages: map[string]string{"numpy": "99.0", "ml-dtypes": "99.0"}}
		if got := frameworks(env, []string{fw.Name}); len(got) != 1 || got[0].State != Absent || got[0].Remedy != fw.Note {
			t.Errorf("without: %+v", got)
		}
		for _, own := range append(slices.Collect(maps.Keys(fw.Pins)), fw.Packages[0]) {
			for _, name := range []string{own, own + "-gpu"} {
				env.Packages = map[string]string{"numpy": "99.0", "ml-dtypes": "99.0", name: "99.0"}
				if got := frameworks(env, []string{fw.Name}); len(got) != 1 || got[0].State != Works || !strings.HasPrefix(got[0].Text, name+" 99.0") {
					t.Errorf("with %s: %+v", name, got)
				}
			}
		}
	}
}

// What the kernel tells of AMD's GPUs is read for manifests that name them; processors among its nodes are none.
func TestGPUsOfAMD(t *testing.T) {
	node := func(version string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("cpu_cores_count 0\ngfx_target_version " + version + "\nvendor_id 4098\n")}
	}
	const nodes = "sys/class/kfd/kfd/topology/nodes/"
	machine := fstest.MapFS{
		nodes + "0/properties": node("0"), nodes + "1/properties": node("90010"), nodes + "2/properties": node("90402"),
		nodes + "3/properties": node("110001"), nodes + "4/properties": node("x"),
	}
	got := gpus(t.Context(), []string{"cpu", "rocm"}, machine)
	if len(got) != 1 || got[0].State != Works || got[0].Text != "gfx90a; gfx942; gfx1101" {
		t.Errorf("%+v", got)
	}
	if got := gpus(t.Context(), []string{"rocm", "cuda"}, fstest.MapFS{}); len(got) != 2 || got[1].State != Absent || got[1].Remedy == "" {
		t.Errorf("%+v", got)
	}
	if got := gpus(t.Context(), []string{"cpu"}, machine); len(got) != 1 || got[0].Subject != "GPU" {
		t.Errorf("%+v", got)
	}
}
