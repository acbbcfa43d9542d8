package matrix

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// project writes the packages of a collection down: what each requires, beside the backend.
func project(t *testing.T, extra string, requires map[string]string) *opdef.Project {
	t.Helper()
	p := &opdef.Project{Dir: t.TempDir()}
	p.Manifest.Name = "my_ops"
	write(t, filepath.Join(p.Dir, "backend/python/pyproject.toml"),
		"[project]\nrequires-python = \">=3.10\"\ndependencies = [\"apache-tvm-ffi>=0.1.13,<0.2\"]\n")
	for _, name := range framework.Names() {
		if deps, ok := requires[name]; ok {
			p.Manifest.Adaptors = append(p.Manifest.Adaptors, name)
			write(t, filepath.Join(p.Dir, "adaptors", name, "pyproject.toml"),
				"[project]\nrequires-python = \">=3.10\"\ndependencies = [\"my_ops-backend==0.1.0\", "+deps+"]\n")
		}
	}
	if extra != "" {
		write(t, filepath.Join(p.Dir, File), extra)
	}
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// lines say what environments are, one each.
func lines(all []Environment) []string {
	var out []string
	for _, e := range all {
		words := []string{e.Name + ":", e.Python}
		if e.Oldest {
			words = append(words, "lowest")
		}
		words = append(append(words, e.Requires...), "for", strings.Join(e.Adaptors, ","), e.Reason)
		out = append(out, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	}
	return out
}

const base = "apache-tvm-ffi>=0.1.13,<0.2 numpy>=2.1 ml-dtypes>=0.5"

func TestEnvironments(t *testing.T) {
	pythons := []Interpreter{{"3.9.18", "3.9", ""}, {"3.11.2", "3.11", ""}, {"3.11.7", "3.11", ""}}
	own := `[[environment]]
name = "torch 2.12"
python = "3.12"
requires = ["torch==2.12.*", "numpy"]
adaptors = ["torch"]
`
	for _, c := range []struct {
		name, extra string
		requires    map[string]string
		want        []string
	}{
		{"nothing but the library", "", nil, []string{
			"backend oldest: lowest " + base + " for backend,native,op_call",
			"backend newest: " + base + " for backend,native,op_call",
			"Python 3.11: 3.11 " + base + " for backend,native,op_call",
		}},
		{"a framework, the cheapest, and one that is not listed", "", map[string]string{
			"jax": `"jax>=0.7.2", "numpy"`, "cupy": `"numpy>=2.1"`, "numpy": `"numpy>=2.1"`,
		}, []string{
			"backend oldest: lowest " + base + " for backend,native,op_call",
			"backend newest: " + base + " for backend,native,op_call",
			"jax oldest: lowest " + base + " jax>=0.7.2 flatbuffers>=24.3 for jax",
			"jax newest: " + base + " jax>=0.7.2 flatbuffers>=24.3 for jax",
			"cupy: for cupy the requirements of its package do not bring CuPy: " +
				"CuPy has a distribution for each CUDA version, so it is not listed.",
			"numpy oldest: lowest " + base + " for numpy",
			"numpy newest: " + base + " for numpy",
			"Python 3.11: 3.11 " + base + " for backend,native,op_call,numpy",
		}},
		{"one that is not listed, but that the suite brings", "", map[string]string{"paddle": `"numpy>=2.1"`}, []string{
			"backend oldest: lowest " + base + " for backend,native,op_call",
			"backend newest: " + base + " for backend,native,op_call",
			"paddle oldest: lowest " + base + " paddlepaddle>=3.3 setuptools>=77 for paddle",
			"paddle newest: " + base + " paddlepaddle>=3.3 setuptools>=77 for paddle",
			"Python 3.11: 3.11 " + base + " for backend,native,op_call",
		}},
		{"nothing but its own", "defaults = false\n" + own, nil, []string{"torch 2.12: 3.12 torch==2.12.* numpy for torch"}},
		{"its own, too", own, nil, []string{
			"backend oldest: lowest " + base + " for backend,native,op_call",
			"backend newest: " + base + " for backend,native,op_call",
			"Python 3.11: 3.11 " + base + " for backend,native,op_call",
			"torch 2.12: 3.12 torch==2.12.* numpy for torch",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := Environments(project(t, c.extra, c.requires), pythons)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(all)); diff != "" {
				t.Errorf("environments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEnvironmentErrors(t *testing.T) {
	for _, c := range []struct{ name, extra, want string }{
		{"unknown key", "[[environment]]\nnmae = \"x\"\n", "read conformance/matrix.toml: strict mode"},
		{"no packages", environment("x", "", ""), "environment 1: expected name, requires and adaptors"},
		{"folder above", environment("..", `"a"`, ""), "environment 1: name \"..\": expected letters"},
		{"path", environment("a/../b", `"a"`, ""), "environment 1: name \"a/../b\": expected letters"},
		{"same folder", environment("one two", `"a"`, "") + environment("one  two", `"a"`, ""), `"one  two" is there already`},
		{"taken", environment("backend oldest", `"a"`, ""), `"backend oldest" is there already`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Environments(project(t, c.extra, nil), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q in it", err, c.want)
			}
		})
	}
	missing := project(t, "", nil)
	missing.Manifest.Adaptors = []string{"torch"}
	if _, err := Environments(missing, nil); err == nil || !strings.Contains(err.Error(), "adaptors/torch/pyproject.toml") {
		t.Errorf("error %v, want one about the file that is missing", err)
	}
}

func TestCandidates(t *testing.T) {
	pythons := []Interpreter{{"3.9.18", "3.9", ""}, {"3.10.2", "3.10", ""}, {"3.11.2", "3.11", ""}, {"3.11.10", "3.11", ""}}
	for _, c := range []struct {
		name string
		e    Environment
		want string
	}{
		{"oldest", Environment{Oldest: true}, "3.9.18 3.10.2 3.11.2 3.11.10"},
		{"newest", Environment{}, "3.11.10 3.11.2 3.10.2 3.9.18"},
		{"series", Environment{Python: "3.11"}, "3.11.10 3.11.2"},
		{"none", Environment{Python: "3.14"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, p := range candidates(c.e, pythons) {
				got = append(got, p.Version)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("candidates %q, want %q", got, c.want)
			}
		})
	}
}

func TestDistribution(t *testing.T) {
	for requirement, want := range map[string]string{
		"torch>=2.10": "torch", "Ml_DTypes": "ml-dtypes", "jax[cuda12] >= 1": "jax", "apache-tvm-ffi>=0.1.13,<0.2": "apache-tvm-ffi",
		"x ; python_version < '3.9'": "x", "y!=2": "y",
	} {
		if got := distribution(requirement); got != want {
			t.Errorf("distribution(%q) = %q, want %q", requirement, got, want)
		}
	}
}

func TestInterpreters(t *testing.T) {
	dir := t.TempDir()
	for name, script := range map[string]string{
		"python3.11": "echo cpython 3.11 3.11.10 True", "python3.9": "echo cpython 3.9 3.9.2 True", "python3.10": "exit 1",
		"python3.12": "echo pypy 3.12 3.12.1 True", "python3.13": "echo cpython 3.13 3.13.0 False",
		"python3.11-config": "echo usage",
	} {
		write(t, filepath.Join(dir, "path", name), "#!/bin/sh\n"+script+"\n")
	}
	write(t, filepath.Join(dir, ".pyenv/versions/3.9.2/bin/python3.9"), "#!/bin/sh\necho cpython 3.9 3.9.2 True\n")
	write(t, filepath.Join(dir, "here/python3.14"), "#!/bin/sh\necho cpython 3.14 3.14.0 True\n")
	write(t, filepath.Join(dir, "here/versions/3.15.0/bin/python3.15"), "#!/bin/sh\necho cpython 3.15 3.15.0 True\n")
	t.Chdir(filepath.Join(dir, "here")) // whose programs must not run
	getenv := map[string]string{"PATH": ":.:" + filepath.Join(dir, "path"), "HOME": dir}
	write(t, filepath.Join(dir, ".pyenv/versions/3.11.9/bin/python3.11"), "#!/bin/sh\necho cpython 3.11 3.11.9 True\n")
	var got []string
	for _, p := range Interpreters(t.Context(), func(key string) string { return getenv[key] }) {
		got = append(got, p.Series+" "+p.Version)
	}
	if diff := cmp.Diff([]string{"3.9 3.9.2", "3.11 3.11.9", "3.11 3.11.10"}, got); diff != "" {
		t.Errorf("interpreters (-want +got):\n%s", diff)
	}
}
