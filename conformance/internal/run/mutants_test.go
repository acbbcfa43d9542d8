package run_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// TestMutants makes a few mutants of each half of the op of this repository that has the fewest arguments, and sees them
// killed: in the library behind their numbers, in a package as edits.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	project, findings, err := load.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	small := project.Ops[0]
	for _, op := range project.Ops {
		if len(op.Inputs)+len(op.Attrs) < len(small.Inputs)+len(small.Attrs) {
			small = op
		}
	}
	mutants := func(words ...string) (code int, printed string) {
		cmd := exec.CommandContext(t.Context(), tooltest.Path(t), append([]string{"-C", root, "mutants", small.Name, "--no-build", "--python", python(t)}, words...)...)
		out, err := cmd.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	code, printed := mutants("--adaptor", "backend,numpy", "-v", "--mutant",
		"backend/narrow-dtypes,backend/unwritten-element,backend/guard-byte,backend/nondeterministic,numpy/swallowed-error")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, printed)
	}
	for _, want := range []string{
		small.Name + "/backend/unwritten-element/1 by value", small.Name + "/backend/guard-byte/1 by out",
		small.Name + "/backend/nondeterministic/1 by repeated", small.Name + "/numpy/swallowed-error/1 by errors",
	} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing says %q:\n%s", want, printed)
		}
	}
	code, printed = mutants("--mutant", "no-such-mutant")
	if code != 2 || !strings.Contains(printed, "nothing is chosen") {
		t.Errorf("a name that chooses nothing: exit code %d\n%s", code, printed)
	}
}
