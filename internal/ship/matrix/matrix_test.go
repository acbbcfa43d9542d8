package matrix

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/report"
)

// fakeUV makes an environment whose interpreter tells what answer.json of the project says. It has no packages for the
// Python ./old, and none at all of what is named rare; what is named broken cannot be loaded down.
const fakeUV = `#!/bin/sh
case "$1" in
venv)
  for env; do :; done
  mkdir -p "$env/bin"
  case "$*" in *./old*) touch "$env/old";; *) rm -f "$env/old";; esac
  printf '#!/bin/sh\ncat DIR/answer.json 2>/dev/null || { echo no library >&2; exit 1; }\n' > "$env/bin/python"
  chmod +x "$env/bin/python";;
pip)
  python=$5
  case "$*" in *misspelt*)
    printf '  x No solution found\n  ╰─▶ Because mispselt was not found in\n      the package registry and you require\n' >&2; exit 1;;
  esac
  case "$*" in *broken*) echo "connection lost" >&2; exit 2;; esac
  case "$*" in *rare*) echo "No solution found when resolving" >&2; exit 1;; esac
  test -e "${python%/bin/python}/old" && { echo "No solution found when resolving" >&2; exit 1; }
  exit 0;;
esac
`

const good = `{"schema": 2, "suite_version": "4", "library_sha256": "abc", "results": [
  {"op": "a", "adaptor": "b", "check": "c", "status": "pass"}, {"op": "a", "adaptor": "b", "check": "d", "status": "skip"}]}`

// environment is one of a project's own.
func environment(name, requires, more string) string {
	return "[[environment]]\nname = \"" + name + "\"\nadaptors = [\"b\", \"c\"]\nrequires = [" + requires + "]\n" + more
}

// options are a run with programs that only pretend.
func options(t *testing.T, requires, script string) Options {
	t.Helper()
	p := project(t, "defaults = false\n"+environment("one two", requires, ""), nil)
	write(t, filepath.Join(p.Dir, "uv"), strings.ReplaceAll(fakeUV, "DIR", p.Dir))
	write(t, filepath.Join(p.Dir, "test"), "#!/bin/sh\necho \"$@\"\n"+script)
	write(t, filepath.Join(p.Dir, "answer.json"), `{"Python": "3.11.1", "SHA256": "abc", "Have": {"x": "1.2"}}`)
	return Options{
		Project: p, UV: filepath.Join(p.Dir, "uv"), Test: []string{filepath.Join(p.Dir, "test"), "test"},
		Dir: filepath.Join(p.Dir, "build"), Environ: os.Environ(), Profile: "extended",
		Pythons: []Interpreter{{"3.10.1", "3.10", "./old"}, {"3.11.1", "3.11", "./new"}}, Out: &strings.Builder{},
	}
}

// leave is a script that leaves the report behind where it is told to.
func leave(text string) string {
	return "while [ \"$1\" != --report ]; do shift; done\ncat > \"$2/report.json\" <<'E'\n" + text + "\nE\n"
}

func TestRun(t *testing.T) {
	have := map[string]string{"x": "1.2"}
	for _, c := range []struct {
		name, requires, script string
		want                   report.Version
		broken                 bool
	}{
		{"passes", `"x"`, leave(good),
			report.Version{Python: "3.11.1", Have: have, LibrarySHA256: "abc", Passed: 1, Skipped: 1}, false},
		{"fails", `"x"`, leave(strings.Replace(good, "skip", "fail", 1)) + "exit 1",
			report.Version{Python: "3.11.1", Have: have, LibrarySHA256: "abc", Passed: 1, Failed: 1}, true},
		{"nothing runs", `"x"`, leave(strings.Replace(good, "pass", "skip", 1)),
			report.Version{Python: "3.11.1", Have: have, LibrarySHA256: "abc", Skipped: 2, Reason: "no check passed"}, true},
		{"other library", `"x"`, leave(strings.Replace(good, "abc", "xyz", 1)), report.Version{Python: "3.11.1", Have: have,
			LibrarySHA256: "abc", Reason: "the suite ran on library xyz, Python loads abc"}, true},
		{"no report", `"x"`, "echo 'opcast: jax cannot be tested here' >&2; exit 3",
			report.Version{Python: "3.11.1", Have: have, LibrarySHA256: "abc", Reason: "jax cannot be tested here"}, true},
		{"not loaded", `"x"`, "rm answer.json", report.Version{Reason: "load the library: no library"}, true},
		{"no versions", `"x", "rare>=2"`, "", report.Version{Reason: "there is no x and no rare>=2 for Python 3.10"}, true},
		{"no such package", `"misspelt"`, "", report.Version{Reason: "install: there is no distribution mispselt"}, true},
		{"no network", `"broken"`, "", report.Version{Reason: "install: connection lost"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, c.requires, c.script)
			if c.name == "not loaded" {
				if err := os.Remove(filepath.Join(o.Project.Dir, "answer.json")); err != nil {
					t.Fatal(err)
				}
			}
			outcome, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome.Report.Versions[0]
			got.Seconds, c.want.Name, c.want.Profile = 0, "one two", "extended"
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("version (-want +got):\n%s", diff)
			}
			if outcome.Broken != c.broken {
				t.Errorf("broken is %v", outcome.Broken)
			}
			if left, _ := filepath.Glob(filepath.Join(o.Dir, "one-two-*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// What does not exist breaks nothing where something else was tested; one that has another library does.
func TestRunSeveral(t *testing.T) {
	o := options(t, `"x"`, leave(good))
	write(t, filepath.Join(o.Project.Dir, File),
		"defaults = false\n"+environment("one", `"x"`, "")+environment("none", `"x"`, "python = \"3.99\"\n"))
	o.Ops = []string{"a"}
	outcome, err := Run(t.Context(), o)
	if err != nil || outcome.Broken {
		t.Fatalf("error %v, broken %v", err, outcome.Broken)
	}
	want := "no Python 3.99 on this machine"
	if got := outcome.Report.Versions[1]; got.Reason != want || got.Profile != "extended: a" {
		t.Errorf("got %+v, want the reason %q", got, want)
	}
	r := &runner{options: o, Outcome: *outcome}
	r.add(r.run(t.Context(), Environment{Name: "odd", Requires: []string{"misspelt"}}))
	if !r.Broken {
		t.Error("a distribution that does not exist breaks nothing")
	}
	r = &runner{options: o, Outcome: *outcome}
	r.add(report.Version{Name: "late", LibrarySHA256: "xyz", Passed: 1}, nil)
	if last := r.Report.Versions[3]; !r.Broken || !strings.HasPrefix(last.Reason, "loaded another library") {
		t.Errorf("got %+v, broken %v", last, r.Broken)
	}
	o.Names = []string{"two"}
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrUnknown) || !strings.HasSuffix(err.Error(), `"two", there are: one, none`) {
		t.Errorf("error %v", err)
	}
}

// The environment chooses its Python by what there are packages for.
func TestCommand(t *testing.T) {
	o := options(t, `"x"`, leave(good))
	o.Ops = []string{"a"}
	write(t, filepath.Join(o.Project.Dir, File), "defaults = false\n"+environment("one two", `"x"`, "oldest = true\n"))
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "report/one-two/log.txt"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(text))
	want := "test --report " + filepath.Join(o.Dir, "report/one-two") + " --adaptor b,c a"
	if len(words) != 8 || strings.Join(append(words[:1], words[3:]...), " ") != want {
		t.Errorf("ran %q", words)
	}
}

// Wheels of a folder are installed beside what is required; there must be one of each.
func TestWheels(t *testing.T) {
	o := options(t, `"x"`, leave(good))
	o.Project.Manifest.Adaptors, o.Wheels = []string{"c"}, t.TempDir()
	backend, c := filepath.Join(o.Wheels, "my_ops_backend-1-py3-none-any.whl"), filepath.Join(o.Wheels, "my_ops_c-1-py3-none-any.whl")
	write(t, backend, "")
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrWheels) || !strings.Contains(err.Error(), "my_ops_c-*.whl in "+o.Wheels+", there are 0") {
		t.Errorf("error %v", err)
	}
	write(t, c, "")
	if got, err := wheels(o, (&Environment{Adaptors: []string{"b", "c"}}).packages(o.Project)); err != nil || !slices.Equal(got, []string{backend, c}) {
		t.Errorf("%q, error %v", got, err)
	}
	if outcome, err := Run(t.Context(), o); err != nil || outcome.Broken {
		t.Errorf("error %v", err)
	}
	write(t, filepath.Join(o.Wheels, "my_ops_c-2-py3-none-any.whl"), "")
	if _, err := Run(t.Context(), o); !errors.Is(err, ErrWheels) {
		t.Errorf("error %v", err)
	}
}

const table = `On 2026-11-21, one library with the SHA-256 ` + "`abc`" + `:

| environment | Python | versions | profile | results |
|---|---|---|---|---|
| one | 3.11.1 | jax 0.7.2, numpy 2.1.0 | core | 3 passed, 0 failed, 2 skipped |
| two | – | – | core | not run: no a\|b &lt; c |
`

func TestWrite(t *testing.T) {
	r := &report.Report{Started: "2026-11-21T10:00:00Z", LibrarySHA256: "abc", Versions: []report.Version{
		{
			Name: "one", Python: "3.11.1", Have: map[string]string{"numpy": "2.1.0", "jax": "0.7.2"},
			Profile: "core", Passed: 3, Skipped: 2,
		},
		{Name: "two", Profile: "core", Reason: "no a|b < c"},
	}}
	path := filepath.Join(t.TempDir(), "README.md")
	write(t, path, "before\n"+Begin+"\nold\n"+End+"\nafter\n")
	for range 2 { // what was written is a place to write to
		if err := Write(path, r); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("before\n"+Begin+"\n"+table+End+"\nafter\n", string(text)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	write(t, path, "nothing\n")
	if err := Write(path, r); !errors.Is(err, ErrNoPlace) {
		t.Errorf("error %v", err)
	}
}
