package conformance

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/report"
)

// liar is an oracle that is wrong in the last element.
type liar struct{ Oracle }

func (l liar) Reference(ctx context.Context, c *Case, precision string) ([]Expected, error) {
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

// crooked is a framework whose transformed ops give wrong results.
type crooked struct{ *remote }

func (c crooked) Transform(ctx context.Context, x *transformation) (*transformed, error) {
	r, err := c.remote.Transform(ctx, x)
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
func reproducing(t *testing.T, adaptors ...string) *session {
	t.Helper()
	project, findings, err := opdef.Load("..")
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	python, err := filepath.Abs(filepath.Join("..", ".venv", "bin", "python"))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{
		options: Options{Project: project, Python: python, ReportDir: t.TempDir(), Adaptors: adaptors},
		printer: &printer{out: io.Discard}, ops: project.Ops,
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.open(t.Context(), adaptors); err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	return s
}

// rerun runs a check that has to fail, then the script of the failure; it returns the failure and what the script says.
func rerun(t *testing.T, s *session, op *opdef.Op, caller Caller, id string) (reason, said string) {
	t.Helper()
	for _, check := range checks() {
		if check.ID != id {
			continue
		}
		results := s.run(t.Context(), op, caller, "", &check)
		i := slices.IndexFunc(results, func(r report.Result) bool { return r.Status == report.Fail })
		if i < 0 || results[i].Reproducer == "" {
			t.Fatalf("no failure with a script: %+v", results)
		}
		script := filepath.Join(s.options.ReportDir, results[i].Reproducer)
		text, err := exec.Command(s.options.Python, script).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, text)
		}
		return results[i].Reason, string(text)
	}
	t.Fatalf("no check %q", id)
	return "", ""
}

// values finds the element, what was got and what was wanted in the text of a failure.
var values = regexp.MustCompile(`([a-z_]+\[[0-9, ]*\]): got (\S+), want (\S+) `)

// The script of a failure repeats it: it prints the very element with the same wrong value, through an adaptor as a user
// would call it, and through the library's own callers as the suite does.
func TestReproducersRun(t *testing.T) {
	s := reproducing(t, backendName, "numpy", opCallName)
	s.env.oracle = liar{s.env.oracle}
	op := s.options.Project.Ops[0]
	for _, r := range s.remotes {
		t.Run(r.name, func(t *testing.T) {
			reason, said := rerun(t, s, op, r, "value")
			found := values.FindStringSubmatch(reason)
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

// The script of a transformation sends it again.
func TestTransformationsAreRepeated(t *testing.T) {
	s := reproducing(t, backendName, "torch")
	op := s.options.Project.Ops[0]
	_, said := rerun(t, s, op, crooked{s.env.caller("torch").(*remote)}, "vmap")
	for _, want := range []string{"call 0, kernels started: {'" + op.Name + "': 1}", "result 0: "} {
		if !strings.Contains(said, want) {
			t.Errorf("the script does not say %q but\n%s", want, said)
		}
	}
}
