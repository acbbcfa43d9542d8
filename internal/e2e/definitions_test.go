package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// Ops become definitions of FlashInfer, those become ops again, and the kernels are right by their references, which PyTorch evaluates.
func TestDefinitionsAndBack(t *testing.T) {
	t.Parallel()
	tool, dir := tooltest.Path(t), t.TempDir()
	words := []string{tool, "init", filepath.Join(dir, "back")}
	for _, op := range []string{"rms_norm", "merge_state", "embedding", "flash_attn_varlen", "per_token_quant", "topk_softmax", "rope", "warp_bitonic_sort"} {
		file := filepath.Join(dir, op+".json")
		text := run(t, command(t, root(t), tool, "export", "flashinfer", op))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		words = append(words, "--from", file)
	}
	run(t, command(t, dir, words...))
	judged := []string{
		"--opdefs", filepath.Join(dir, "back", "opdefs"), "--library", filepath.Join(root(t), "backend", "python", "src", "opcast_backend", "lib", "libopcast.so"),
		"--adaptor", "backend", "--only", only(t, "value", "sizes"),
	}
	if code, printed, r := tested(t, tool, judged...); code != 0 || len(r.Results) < 16 {
		t.Fatalf("exit code %d\n%s", code, printed)
	}

	// A reference that says something else is noticed.
	file := filepath.Join(dir, "back", "opdefs", "rms_norm.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "return x / xp.sqrt(", "return x / xp.cbrt(", 1)
	if changed == string(text) {
		t.Fatal("the reference of rms_norm is another")
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, printed, _ := tested(t, tool, append(judged, "rms_norm")...); code != 1 || !strings.Contains(printed, "results differ from the reference") {
		t.Errorf("a wrong reference: exit code %d\n%s", code, printed)
	}
}
