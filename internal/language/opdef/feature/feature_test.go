package feature_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef/feature"
)

func TestLookup(t *testing.T) {
	for word, want := range map[string]string{"avx2": "avx2", "avx512_bf16": "avx512bf16", "sse4.2": "sse4.2"} {
		if got, ok := feature.Lookup(word); !ok || got != want {
			t.Errorf("%s: %s, %v", word, got, ok)
		}
	}
	for _, word := range []string{"", "_", "AVX2", "avx", "sse2"} {
		if _, ok := feature.Lookup(word); ok != (word == "avx") {
			t.Errorf("%q: %v", word, ok)
		}
	}
	if got := feature.Rank([]string{"fma"}); got >= feature.Rank([]string{"avx512f", "sse3"}) || got <= feature.Rank(nil) {
		t.Errorf("fma has rank %d", got)
	}
}

// The compiler knows every name, as an option and as a question.
func TestCompilerKnows(t *testing.T) {
	cxx, err := exec.LookPath("c++")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no C++ compiler for x86-64")
	}
	var text strings.Builder
	args := []string{"-fsyntax-only"}
	for _, name := range feature.Names() {
		args = append(args, "-m"+name)
		text.WriteString("static_assert(sizeof(__builtin_cpu_supports(\"" + name + "\")) != 0);\n")
	}
	source := filepath.Join(t.TempDir(), "features.cc")
	if err := os.WriteFile(source, []byte("#include <immintrin.h>\n"+text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), cxx, append(args, "-std=c++17", source)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
