package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

// lifted are limits of the collection's definitions, and the checks that fail without them.
var lifted = []struct{ op, limit, instead, check, says string }{
	{"rotary_embedding", `"T == f32 or R % 16 == 0 and D % 8 == 0", `, ``, "sizes", "segmentation fault"},
	{"rotary_embedding", `R = [4, 0,`, `R = [40, 4, 0,`, "sizes", "segmentation fault"},
	{"rms_norm", `, when = "aligned(y, 16)"`, ``, "misaligned", "segmentation fault"},
	{"rms_norm", `min = -1e15, max = 1e15, `, ``, "hard-floats", "got 0, want"},
	{"silu_and_mul", `min = -80, max = 1e4, `, ``, "hard-floats", "got -0, want"},
}

// TestReal builds kernels of vLLM as they are, and finds nothing wrong within the limits of the definitions, in any framework. Without
// the limits, it finds what examples/real/README.md says.
func TestReal(t *testing.T) {
	t.Parallel()
	dir, interpreter := exampleProject(t, "real"), borrowed(t)
	sources := filepath.Join(root(t), "examples/real/vllm")
	if err := os.CopyFS(filepath.Join(dir, "vllm"), os.DirFS(sources)); err != nil {
		t.Fatalf("%v: make examples/real/vllm gets them", err)
	}
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	_, rest, _ := strings.Cut(string(read(t, filepath.Join(root(t), "examples/real/README.md"))), "```python\n")
	shown, _, _ := strings.Cut(rest, "```")
	if out := run(t, command(t, dir, interpreter, "-c", shown+"print(q.dtype, scale[0])")); out != "float8_e4m3fn [0.00223214]\n" {
		t.Errorf("the call that the README shows: %q", out)
	}
	mustOpcast(t, "-C", dir, "test", "--no-build", "--profile", "fast", "--spread", "--python", interpreter)

	only := ""
	for _, l := range lifted {
		file := filepath.Join(dir, "opdefs", l.op+".toml")
		with := string(read(t, file))
		without := strings.Replace(with, l.limit, l.instead, 1)
		if with == without {
			t.Errorf("%s has no %s", l.op, l.limit)
		}
		write(t, file, []byte(without))
		only += l.op + " backend " + l.check + "\n"
	}
	write(t, filepath.Join(dir, "only"), []byte(only))
	code, stdout, stderr := opcast(t, "-C", dir, "test", "--only", filepath.Join(dir, "only"), "--python", interpreter, "--report", filepath.Join(dir, "report"))
	r, err := report.Read(filepath.Join(dir, "report", "report.json"))
	if err != nil || code != 1 {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	for _, l := range lifted {
		found := false
		for _, one := range r.Results {
			found = found || one.Op == l.op && one.Check == l.check && strings.Contains(one.Reason, l.says)
		}
		if !found {
			t.Errorf("%s without %s: %s does not say %q\n%s", l.op, l.limit, l.check, l.says, stdout)
		}
	}
}
