package elfcheck

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// compile links C++ text into a shared library; undefined symbols are allowed.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "lib.cc"), filepath.Join(dir, "lib.so")
	if err := os.WriteFile(in, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-shared", "-fPIC", "-o", out, in}, flags...)
	if text, err := exec.Command("c++", args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, text)
	}
	return out
}

const source = `
#include <string>
namespace ops { int RmsNorm(const char*, std::string); }
extern "C" int PyLong_FromLong(long);
extern "C" int TVMFFIThing();
extern "C" __attribute__((weak)) int optional();
extern "C" int demo_run(int n) { return ops::RmsNorm("x", std::string(n, 'a')) + PyLong_FromLong(1) + TVMFFIThing(); }
extern "C" int leaked() { return optional ? optional() : 0; }
`

func TestCheck(t *testing.T) {
	lib, err := Read(compile(t, source))
	if err != nil {
		t.Fatal(err)
	}
	got := lib.Check(Policy{ExportPrefixes: []string{"demo_"}, Provided: []string{"TVMFFIOther", "TVMFFIThing"}})
	if !slices.Contains(got.Exports, "leaked") || slices.Contains(got.Exports, "demo_run") {
		t.Errorf("exports: %q", got.Exports)
	}
	got.Exports = nil // The compiler may export pieces of std::string, too.
	want := Violations{Undefined: []string{"PyLong_FromLong", "_ZN3ops7RmsNormEPKcNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestCheckNeeded(t *testing.T) {
	lib := &Library{Needed: []string{"ld-linux-x86-64.so.2", "libc.so.6", "libgomp.so.1", "libpython3.11.so.1.0"}}
	got := lib.Check(Policy{Linked: []string{"libgomp.so"}}).Needed
	if diff := cmp.Diff([]string{"libpython3.11.so.1.0"}, got); diff != "" {
		t.Errorf("needed (-want +got):\n%s", diff)
	}
}

// A damaged file is an error or a wrong answer, but never a crash.
func TestReadSurvivesDamage(t *testing.T) {
	whole, err := os.ReadFile(compile(t, source))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bad.so")
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		bad := slices.Clone(whole[:len(whole)-rng.IntN(len(whole))*(i%2)])
		for range 1 + i%40 {
			if len(bad) > 0 {
				// Half of the damage goes into the ELF header, where it does most.
				bad[rng.IntN(max(1, len(bad)>>(i%3*5)))] = byte(rng.Uint32())
			}
		}
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if lib, err := Read(path); err == nil {
			lib.Check(Policy{})
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.so")); err == nil {
		t.Error("no error for a missing file")
	}
}

func TestDemangle(t *testing.T) {
	for symbol, want := range map[string]string{
		"_ZN3ops7RmsNormERKNS_11RmsNormArgsERKN6opcast6LaunchE": "ops::RmsNorm",
		"_Z4funci":               "func",
		"_ZN3ops3RunIfEEvT_":     "_ZN3ops3RunIfEEvT_",
		"_ZN3ops99RmsNormE":      "_ZN3ops99RmsNormE",
		"_ZN3ops7RmsNorm":        "_ZN3ops7RmsNorm",
		"_ZN0E":                  "_ZN0E",
		"_Z99999999999999999999": "_Z99999999999999999999",
		"TVMFFIAny":              "TVMFFIAny",
		"":                       "",
	} {
		if got := Demangle(symbol); got != want {
			t.Errorf("Demangle(%q) = %q, want %q", symbol, got, want)
		}
	}
}
