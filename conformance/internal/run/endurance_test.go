package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/system/rpc"
)

// handMade is a worker that calls a function of testdata/endure.py with arrays of NumPy.
func handMade(t *testing.T, function string) (*worker.Process, *check.ForeignCode) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", "endure.py"))
	if err != nil {
		t.Fatal(err)
	}
	return handMadeOf(t, file+":"+function)
}

// handMadeOf is one that calls a function by its name, with folders in which Python finds modules.
func handMadeOf(t *testing.T, target string, folders ...string) (*worker.Process, *check.ForeignCode) {
	t.Helper()
	folders = append([]string{}, folders...) // a list in JSON, too
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		python = filepath.Join("..", "..", "..", ".venv", "bin", "python")
	}
	python, err := filepath.Abs(python)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := worker.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	f := &check.ForeignCode{Functions: map[string]map[string]string{"numpy": {"affine": target}}}
	config, err := worker.Command(python, dir, worker.Config{
		Caller: "numpy_caller", Adaptor: "numpy", Collection: "toy", Paths: folders, SingleFramework: true, DTypes: worker.DTypes(),
		Device: "cpu", Callables: f.Functions["numpy"],
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &worker.Process{CallerName: "numpy", Worker: rpc.New(config)}
	t.Cleanup(func() {
		if err := r.Worker.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := r.Start(t.Context()); err != nil || r.Missing != "" {
		t.Fatal(err, r.Missing)
	}
	return r, f
}

// Functions that misbehave only beside other calls are found in a real process; a right one passes everything.
func TestEnduranceOfFunctions(t *testing.T) {
	all := []string{"threads", "fork", "spawn", "leaks", "leaks-all"}
	for function, failing := range map[string]string{
		"right": "", "keeps_results": "leaks leaks-all", "keeps_arguments": "leaks leaks-all", "keeps_errors": "leaks leaks-all",
		"blind": "", "shares": "threads", "dies_in_child": "fork spawn", "differs_in_child": "fork spawn",
	} {
		t.Run(function, func(t *testing.T) {
			r, f := handMade(t, function)
			if r.Abilities.LeakRate != 2 {
				t.Errorf("caches may take %d bytes a call", r.Abilities.LeakRate)
			}
			for _, id := range all {
				s := &Runner{profile: check.ProfileExtended, Env: &check.Environment{
					Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{r}, Foreign: f,
				}}
				check, want := checkNamed(t, id), "pass"
				if strings.Contains(" "+failing+" ", " "+id+" ") {
					want = "fail"
				}
				for _, result := range s.run(t.Context(), fake.ToyOp(t, "affine"), r, &check) {
					if string(result.Status) != want {
						t.Errorf("%s: %s, want %s: %s", id, result.Status, want, result.Reason)
					}
					unseen := strings.HasPrefix(result.Reason, "malloc is not watched here")
					if unseen != (function == "blind" && strings.HasPrefix(id, "leaks")) {
						t.Errorf("%s: told %q", id, result.Reason)
					}
				}
			}
		})
	}
}

// An author's modules may have the names of ours: imports from them find theirs, at the start and later, and ours still work.
func TestNamesOfAuthors(t *testing.T) {
	dir, files := t.TempDir(), t.TempDir()
	if err := worker.WriteFiles(files); err != nil {
		t.Fatal(err)
	}
	ours, err := filepath.Glob(filepath.Join(files, worker.Package, "*.py"))
	if err != nil || len(ours) < 50 {
		t.Fatalf("%d files: %v", len(ours), err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "endure.py"))
	if err != nil {
		t.Fatal(err)
	}
	author, names := string(text)+"\nimport importlib\n", ""
	for i, file := range ours {
		name := strings.TrimSuffix(filepath.Base(file), ".py")
		if err := os.WriteFile(filepath.Join(dir, name+".py"), []byte("MINE = True\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if names += "'" + name + "', "; i%2 == 0 { // the call imports the others
			author += "import " + name + "\nassert " + name + ".MINE, " + name + "\n"
		}
	}
	author += "def named(*args, **attrs):\n    for name in [" + names + "]:\n" +
		"        assert importlib.import_module(name).MINE, name\n    return right(*args, **attrs)\n"
	if err := os.WriteFile(filepath.Join(dir, "author.py"), []byte(author), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"author", filepath.Join(dir, "author.py")} {
		r, f := handMadeOf(t, target+":named", dir)
		for _, id := range []string{"fork", "spawn"} {
			s := &Runner{profile: check.ProfileExtended, Env: &check.Environment{
				Project: fake.Toy(t), Device: "cpu", Oracle: fakeOracle{}, Callers: []calls.Caller{r}, Foreign: f,
			}}
			check := checkNamed(t, id)
			results := s.run(t.Context(), fake.ToyOp(t, "affine"), r, &check)
			for _, result := range results {
				if result.Status != "pass" {
					t.Errorf("%s: %s: %s: %s", target, id, result.Status, result.Reason)
				}
			}
			if len(results) == 0 {
				t.Errorf("%s: %s: nothing was checked", target, id)
			}
		}
	}
}
