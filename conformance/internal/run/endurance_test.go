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
	python := os.Getenv("OPCAST_TEST_PYTHON")
	if python == "" {
		python = filepath.Join("..", "..", "..", ".venv", "bin", "python")
	}
	var paths [2]string
	for i, path := range []string{python, filepath.Join("testdata", "endure.py")} {
		var err error
		if paths[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	if err := worker.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	f := &check.ForeignCode{Functions: map[string]map[string]string{"numpy": {"affine": paths[1] + ":" + function}}}
	config, err := worker.Command(paths[0], dir, worker.Config{
		Caller: "numpy_caller", Adaptor: "numpy", Collection: "toy", Paths: []string{}, SingleFramework: true, DTypes: worker.DTypes(),
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
