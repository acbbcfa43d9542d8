package conformance_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/cli"
	"github.com/opcast/opcast/internal/opdef"
)

// TestMutants plants a few faults of each half into the op of this repository that has the fewest arguments, and sees them
// killed: in the library behind their numbers, in a package as edits.
func TestMutants(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	project, findings, err := opdef.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	small := project.Ops[0]
	for _, op := range project.Ops {
		if len(op.Inputs)+len(op.Attrs) < len(small.Inputs)+len(small.Attrs) {
			small = op
		}
	}
	var out, log bytes.Buffer
	code := cli.Main(t.Context(), []string{
		"-C", root, "test", "--mutants", small.Name, "--python", python(t), "--adaptor", "backend,numpy", "-v",
		"--mutant", "backend/narrow-dtypes,backend/unwritten-element,backend/guard-byte,backend/nondeterministic,numpy/swallowed-error",
	}, strings.NewReader(""), &out, &log)
	if code != 0 {
		t.Fatalf("exit code %d\n%s\n%s", code, &out, &log)
	}
	for _, want := range []string{
		small.Name + "/backend/unwritten-element/1 by value", small.Name + "/backend/guard-byte/1 by out",
		small.Name + "/backend/nondeterministic/1 by repeated", small.Name + "/numpy/swallowed-error/1 by errors",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, &out)
		}
	}
	out.Reset()
	log.Reset()
	code = cli.Main(t.Context(), []string{"-C", root, "test", "--mutants", small.Name, "--python", python(t), "--mutant", "no-such-mutant"},
		strings.NewReader(""), &out, &log)
	if code != 2 || !strings.Contains(log.String(), "nothing is chosen") {
		t.Errorf("a name that chooses nothing: exit code %d\n%s\n%s", code, &out, &log)
	}
}
