package run

import (
	"context"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// wrongOracle is an oracle that is wrong in the last element.
type wrongOracle struct{ oracle.Oracle }

func (l wrongOracle) Reference(ctx context.Context, c *cases.Case, precision string) ([]oracle.Expected, error) {
	right, err := l.Oracle.Reference(ctx, c, precision)
	if err != nil {
		return nil, err
	}
	wrong := slices.Clone(right)
	for i := range wrong {
		wrong[i].Values = slices.Clone(wrong[i].Values)
		if n := len(wrong[i].Values); n > 0 {
			wrong[i].Values[n-1] += 100
		}
	}
	return wrong, nil
}

// wrongTransformer is a framework whose transformed ops give wrong results.
type wrongTransformer struct{ *worker.Process }

func (c wrongTransformer) Transform(ctx context.Context, x *calls.Transformation) (*calls.Transformed, error) {
	r, err := c.Process.Transform(ctx, x)
	if err == nil {
		for _, call := range r.Calls {
			if len(call.Outputs) > 0 && len(call.Outputs[0].Data) > 0 {
				call.Outputs[0].Data[0] ^= 1
			}
		}
	}
	return r, err
}

// reproducing starts callers of this repository's collection, whose failures leave scripts.
func reproducing(t *testing.T, adaptors ...string) (*Pool, *Runner) {
	t.Helper()
	project, findings, err := load.Load("../../..")
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	python, err := filepath.Abs(filepath.Join("..", "..", "..", ".venv", "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	pool := NewPool(Options{
		Subject: Subject{Project: project},
		Scope:   Scope{Adaptors: adaptors},
		Effort:  Effort{Python: python, Native: []string{tooltest.Path(t), "native-caller"}},
		Output:  Output{ReportDir: t.TempDir()},
	})
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := pool.Open(t.Context(), adaptors)
	if err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	return pool, s
}

// rerun runs a check that has to fail, then the script of the failure; it returns the failure and what the script says.
func rerun(t *testing.T, s *Runner, op *opdef.Op, caller calls.Caller, id string) (reason, said string) {
	t.Helper()
	for _, check := range Checks() {
		if check.ID != id {
			continue
		}
		results := s.run(t.Context(), op, caller, &check)
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.Status == report.Fail })
		if i < 0 || results[i].Reproducer == "" {
			t.Fatalf("no failure with a script: %+v", results)
		}
		script := filepath.Join(filepath.Dir(s.Env.ReproducerDir), results[i].Reproducer)
		text, err := exec.Command(s.Env.Replay.Python, script).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, text)
		}
		return results[i].Reason, string(text)
	}
	t.Fatalf("no check %q", id)
	return "", ""
}

// floats is the first op of which each call gives floats alone, as arrays.
func floats(t *testing.T, p *opdef.Project) *opdef.Op {
	t.Helper()
	i := slices.IndexFunc(p.Ops, func(op *opdef.Op) bool {
		return !op.HasLists() && op.Module != "" && !op.Defines("samples") &&
			!slices.ContainsFunc(op.Inputs, func(a opdef.Arg) bool { return a.Type.Var == "" })
	})
	if i < 0 {
		t.Fatal("no op of floats")
	}
	return p.Ops[i]
}

// failedElement finds the element, what was got and what was wanted in the text of a failure.
var failedElement = regexp.MustCompile(`([a-z_]+\[[0-9, ]*\]): got (\S+), want (\S+) `)

// The script of a failure repeats it: it prints the very element with the same wrong value, through an adaptor as a user
// would call it, and through the library's own callers as the suite does.
func TestReproducersRun(t *testing.T) {
	pool, s := reproducing(t, calls.BackendName, "numpy", calls.OpCallName)
	s.Env.Oracle = wrongOracle{s.Env.Oracle}
	op := floats(t, s.Env.Project)
	for _, r := range pool.Callers {
		t.Run(r.CallerName, func(t *testing.T) {
			reason, said := rerun(t, s, op, r, "value")
			found := failedElement.FindStringSubmatch(reason)
			if found == nil {
				t.Fatalf("no values in %s", reason)
			}
			// In 16 bits Go prints more digits than NumPy; the first row is of float32.
			for _, want := range []string{found[1] + ": got " + found[2][:min(len(found[2]), 6)], "want " + found[3][:min(len(found[3]), 6)]} {
				if !strings.Contains(said, want) {
					t.Errorf("the failure is %s\nthe script does not say %q but\n%s", reason, want, said)
				}
			}
		})
	}
}

// wrongWords is a caller whose errors of calls that only raw memory can express are none of ours.
type wrongWords struct{ *worker.Process }

func (c wrongWords) Call(ctx context.Context, call *calls.Call) (*calls.Result, error) {
	r, err := c.Process.Call(ctx, call)
	if err == nil && r.Error != nil && call.Probe != "" {
		r.Error.Text = "oops"
	}
	return r, err
}

// RandomBatcher is none: these calls are made one by one.
func (wrongWords) RandomBatcher() calls.RandomBatcher { return nil }

// The script of a random call makes it from Python, with the same wrong argument.
func TestRandomCallsAreRepeated(t *testing.T) {
	_, s := reproducing(t, calls.BackendName, calls.NativeName)
	s.Env.RandomCallsPerOp = 60
	op := floats(t, s.Env.Project)
	if _, said := rerun(t, s, op, wrongWords{s.Env.Caller(calls.NativeName).(*worker.Process)}, "random-calls"); !strings.Contains(said, "raised TypeError: "+op.Name+": ") {
		t.Errorf("the script raises no error of the op but says\n%s", said)
	}
}

// The script of a transformation sends it again.
func TestTransformationsAreRepeated(t *testing.T) {
	_, s := reproducing(t, calls.BackendName, "torch")
	op := floats(t, s.Env.Project)
	_, said := rerun(t, s, op, wrongTransformer{s.Env.Caller("torch").(*worker.Process)}, "vmap")
	for _, want := range []string{"call 0, kernels started: {'" + op.Name + "': 1}", "result 0: "} {
		if !strings.Contains(said, want) {
			t.Errorf("the script does not say %q but\n%s", want, said)
		}
	}
}
