package names_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// headers are those of the C++ library that the runtime includes, and more that kernels are likely to include.
const headers = `array atomic cassert cctype cerrno cfloat climits cmath complex csignal cstddef cstdint cstdio cstdlib cstring ctime
	functional initializer_list iostream limits memory mutex numeric optional stdexcept string string_view thread tuple type_traits
	utility vector`

// listed is the version of GCC that wrote the list.
const listed = "12.2.0"

var macroPattern = regexp.MustCompile(`(?m)^#define (\w+)(?:[ (]|$)`)

// TestMacros: no header defines a macro that a definition may use as a name. UPDATE=1 adds those of this compiler to the list,
// which has those of others, too.
func TestMacros(t *testing.T) {
	cxx, err := compiler.FindCXX(t.Context(), os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	var text strings.Builder
	for name := range strings.FieldsSeq(headers) {
		text.WriteString("#include <" + name + ">\n")
	}
	own, err := filepath.Glob("../../../../backend/opcast/*.h")
	if err != nil || len(own) == 0 {
		t.Fatal("no runtime", err)
	}
	var found []string
	for _, source := range []string{text.String(), text.String() + "#include \"opcast/kernel.h\"\n"} {
		args := append(slices.Clone(cxx.Words[1:]), "-std=c++17", "-pthread", "-I", "../../../../backend", "-I", "../../../../backend/gen", "-dM", "-E", "-x", "c++", "-")
		cmd := exec.CommandContext(t.Context(), cxx.Words[0], args...)
		cmd.Stdin = strings.NewReader(source)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
		for _, m := range macroPattern.FindAllSubmatch(out, -1) {
			found = append(found, string(m[1]))
		}
	}
	var missing []string
	for _, name := range found {
		if local, ok := strings.CutSuffix(name, "_"); ok && names.IsIdentifier(local) && !names.IsMacro(name) {
			t.Errorf("%s may be a local of generated code", name)
		}
		if names.IsIdentifier(name) && !names.IsMacro(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if version, err := exec.Command(cxx.Words[0], "-dumpfullversion").Output(); os.Getenv("UPDATE") == "" &&
		(err != nil || strings.TrimSpace(string(version)) != listed) {
		t.Skipf("the list is that of GCC %s; this compiler has more, which UPDATE=1 adds: %s", listed, strings.Join(missing, " "))
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("macros that are not reserved (UPDATE=1 adds them): %s", strings.Join(missing, " "))
	}
	old, err := os.ReadFile("macros.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := append(missing, strings.Fields(string(bytes.TrimSpace(old)))...)
	slices.Sort(all)
	if err := os.WriteFile("macros.txt", []byte(strings.Join(slices.Compact(all), "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
