package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Private names of PyTorch stand in one file, which ruff sees to, and docs/calling.md says how many they are.
func TestPrivateNames(t *testing.T) {
	t.Parallel()
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	names := map[string]bool{}
	for _, match := range regexp.MustCompile(`[.\["](_[A-Za-z]\w*)`).FindAllStringSubmatch(read("adaptors/torch/src/opcast_torch/_runtime/_private.py"), -1) {
		names[match[1]] = true
	}
	for _, module := range []string{"_C", "_functorch", "_guards"} { // where some of them are
		delete(names, module)
	}
	names["peek_interpreter_stack"], names["CompileContext"], names["enable_single_level_autograd_function"] = true, true, true // in these
	if want := fmt.Sprintf("uses %d private names", len(names)); !strings.Contains(read("docs/calling.md"), want) {
		t.Errorf("docs/calling.md does not say that the package %s: %v", want, slices.Sorted(maps.Keys(names)))
	}
}

// Whoever gets hold of a registered op, a tracer, a subclass, TorchScript or a mode, loses nothing of what the function has.
func TestTorchRegistry(t *testing.T) {
	t.Parallel()
	script := filepath.Join(root(t), "internal", "e2e", "torch_registry.py")
	if told := run(t, command(t, t.TempDir(), python(t), "-W", "ignore", "-P", script)); strings.TrimSpace(told) != "ok" {
		t.Error(told)
	}
}
