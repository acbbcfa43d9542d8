package audit

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sample is a library that a test makes, and what is to be found in it.
type sample struct {
	source string
	// fakes are other libraries to link with: their name, and the version and name of a symbol.
	fakes []fake
	flags []string
	patch func(library []byte) []byte
	rules Rules
	codes []string
}

type fake struct{ library, version, symbol string }

const entry = `__attribute__((visibility("default"))) int __tvm_ffi_run(void) { return CALL; }`

// calls is a library whose entry point calls a function.
func calls(name string) string {
	return "int " + name + "(void);\n" + strings.ReplaceAll(entry, "CALL", name+"()")
}

var plain = strings.ReplaceAll(entry, "CALL", "0")

// needsNew calls a function of a system's library that has a version.
func needsNew(library, version string) sample {
	return sample{source: calls("novel"), fakes: []fake{{library, version, "novel"}}, codes: []string{"A002"}}
}

// samples are good and bad libraries.
var samples = map[string]sample{
	"good":            {source: plain},
	"tvm-ffi":         {source: calls("TVMFFIObjectDecRef")},
	"torch":           {source: calls("aoti_torch_get_device"), fakes: []fake{{"libtorch_cpu.so", "", "aoti_torch_get_device"}}},
	"old glibc":       {source: calls("novel"), fakes: []fake{{"libc.so.6", "GLIBC_2.28", "novel"}}},
	"new glibc":       needsNew("libc.so.6", "GLIBC_2.34"),
	"no such glibc":   needsNew("libc.so.6", "GLIBC_2.19"),
	"new libstdc++":   needsNew("libstdc++.so.6", "GLIBCXX_3.4.29"),
	"new C++ ABI":     needsNew("libstdc++.so.6", "CXXABI_1.3.13"),
	"new libgcc":      needsNew("libgcc_s.so.1", "GCC_14.0.0"),
	"two new ones":    {source: calls("novel"), fakes: []fake{{"libc.so.6", "GLIBC_2.29", "novel"}, {"libm.so.6", "GLIBC_2.31", "other"}}, codes: []string{"A002"}},
	"weak":            {source: "__attribute__((weak)) " + calls("absent")},
	"weak and new":    {source: "__attribute__((weak)) " + calls("novel"), fakes: []fake{{"libc.so.6", "GLIBC_2.34", "novel"}}, codes: []string{"A002"}},
	"runpath":         {source: plain, flags: []string{"-Wl,-rpath,/opt/demo/lib"}, codes: []string{"A004"}},
	"rpath":           {source: plain, flags: []string{"-Wl,--disable-new-dtags,-rpath,/opt/demo/lib:$ORIGIN"}, codes: []string{"A004"}},
	"origin":          {source: plain, flags: []string{"-Wl,-rpath,$ORIGIN/../lib"}},
	"foreign":         {source: calls("foreign"), fakes: []fake{{"libforeign.so.1", "", "foreign"}}, codes: []string{"A003"}},
	"foreign, known":  {source: calls("foreign"), fakes: []fake{{"libforeign.so.1", "", "foreign"}}, rules: Rules{Needed: []string{"libforeign.so"}}},
	"libpython":       {source: calls("PyLong_FromLong"), fakes: []fake{{"libpython3.11.so.1.0", "", "PyLong_FromLong"}}, codes: []string{"A003"}},
	"python":          {source: calls("PyLong_FromLong")},
	"unstable":        {source: calls("PyUnicode_New"), codes: []string{"A006"}},
	"private":         {source: calls("_PyLong_AsInt"), codes: []string{"A006"}},
	"newer python":    {source: calls("PyType_GetName"), codes: []string{"A006"}},
	"unresolved":      {source: calls("nobody_defines_this"), codes: []string{"A007"}},
	"framework's C++": {source: calls("_ZN2at5emptyEv"), fakes: []fake{{"libtorch_cpu.so", "", "_ZN2at5emptyEv"}}, codes: []string{"A007"}},
	"leaked":          {source: plain + "\n__attribute__((visibility(\"default\"))) int leaked(void) { return 1; }", codes: []string{"A005"}},
	"leaked, known":   {source: plain + "\n__attribute__((visibility(\"default\"))) int demo_x(void) { return 1; }", rules: Rules{Exports: []string{"demo_"}}},
	"stack":           {source: plain, flags: []string{"-Wl,-z,execstack"}, codes: []string{"A008"}},
	"everything": {source: calls("novel") + "\nint gone(void);\nint leaked(void);\n__attribute__((visibility(\"default\"))) int leaked(void) { return gone(); }",
		fakes: []fake{{"libc.so.6", "GLIBC_2.34", "novel"}}, flags: []string{"-Wl,-rpath,/opt/x"}, codes: []string{"A002", "A004", "A005", "A007"}},
	"program":       {source: plain, flags: []string{"-nostdlib", "-pie"}, codes: []string{"A001"}},
	"other machine": {source: plain, patch: func(b []byte) []byte { b[18] = 183; return b }, codes: []string{"A001"}},
	"32 bits":       {source: plain, patch: func(b []byte) []byte { b[4] = 1; return b }, codes: []string{"A009"}},
	"big endian":    {source: plain, patch: func(b []byte) []byte { b[5] = 2; return b }, codes: []string{"A009"}},
	"half":          {source: plain, patch: func(b []byte) []byte { return b[:len(b)/2] }, codes: []string{"A009"}},
	"a tenth":       {source: plain, patch: func(b []byte) []byte { return b[:len(b)/10] }, codes: []string{"A009"}},
	"header":        {source: plain, patch: func(b []byte) []byte { return b[:64] }, codes: []string{"A009"}},
	"magic":         {source: plain, patch: func(b []byte) []byte { return b[:4] }, codes: []string{"A009"}},
	"empty":         {source: plain, patch: func([]byte) []byte { return nil }, codes: []string{"A009"}},
	"text":          {source: plain, patch: func([]byte) []byte { return []byte("GROUP ( libc.so.6 )\n") }, codes: []string{"A009"}},
}

// run runs a program and returns what it prints.
func run(t *testing.T, program string, words ...string) string {
	t.Helper()
	out, err := exec.Command(program, words...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(words, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// build makes the library of a sample in a new folder.
func (s sample) build(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	words := []string{"-shared", "-fPIC", "-O1", "-fvisibility=hidden", "-o", filepath.Join(dir, "lib.so"), write(t, filepath.Join(dir, "lib.c"), s.source)}
	for i, f := range s.fakes {
		source := write(t, filepath.Join(dir, fmt.Sprint("fake", i, ".c")), "int "+f.symbol+"(void) { return 1; }\n")
		file := filepath.Join(dir, fmt.Sprint("fake", i, ".so"))
		flags := []string{"-shared", "-fPIC", "-nostdlib", "-Wl,-soname," + f.library, "-o", file, source}
		if f.version != "" {
			flags = append(flags, "-Wl,--version-script="+write(t, file+".map", f.version+" { global: *; };\n"))
		}
		run(t, "cc", flags...)
		words = append(words, "-Wl,--no-as-needed", file)
	}
	run(t, "cc", append(words, s.flags...)...)
	out := filepath.Join(dir, "lib.so")
	if s.patch != nil {
		content, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		write(t, out, string(s.patch(content)))
	}
	return out
}

// codes are those of the findings, without repetition.
func codes(r *Report) (list []string) {
	for _, f := range r.Findings {
		list = append(list, f.Code)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestCorpus: of each sample, and of its stripped variants, the same is found.
func TestCorpus(t *testing.T) {
	for name, s := range samples {
		t.Run(name, func(t *testing.T) {
			file := s.build(t)
			check := func(variant, path string) {
				t.Helper()
				report, err := File(path, s.rules)
				if err != nil {
					t.Fatal(err)
				}
				if got := codes(report); !slices.Equal(got, s.codes) {
					t.Errorf("%s: found %v, want %v\n%v", variant, got, s.codes, report.Findings)
				}
				for _, f := range report.Findings {
					if f.Hint == "" || strings.Contains(f.Text, "%!") {
						t.Errorf("%s: no remedy, or a wrong text: %v", variant, f)
					}
				}
			}
			check("as it is", file)
			if s.patch == nil {
				run(t, "strip", "-o", file+".stripped", file)
				check("stripped", file+".stripped")
				check("without sections", withoutSections(t, file))
			}
		})
	}
}

// withoutSections takes the sections out of a library, which the loader does not need.
func withoutSections(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(content[40:], 0) // where they begin
	binary.LittleEndian.PutUint32(content[60:], 0) // their number, and the one with their names
	return write(t, file+".sectionless", string(content))
}

func TestFacts(t *testing.T) {
	report, err := File(samples["two new ones"].build(t), Rules{})
	if err != nil || len(report.Libraries) != 1 {
		t.Fatal(report, err)
	}
	if f := report.Libraries[0]; f.Machine != "x86_64" || f.Versions["GLIBC"] != "2.29" || f.Exports != 1 || f.Stripped {
		t.Errorf("facts %+v", f)
	}
	if _, err := File(filepath.Join(t.TempDir(), "absent.so"), Rules{}); err == nil {
		t.Error("no error for a missing file")
	}
	if _, err := File(t.TempDir(), Rules{}); err == nil {
		t.Error("no error for a folder")
	}
	if _, err := File(samples["good"].build(t), Rules{Standard: "manylinux_9_9"}); err == nil || !strings.Contains(err.Error(), DefaultStandard) {
		t.Errorf("error %v", err)
	}
}

// TestWheelOfMillions: a small archive may claim millions of wrong lines. A few of them are told, and how many more there are.
func TestWheelOfMillions(t *testing.T) {
	files := newWheel(read(t, samples["good"].build(t)))
	files[info+"RECORD"] = strings.Repeat("a\n", 1<<20)
	report := judged(t, files)
	if n := len(report.Findings); n != mostAlike+1 {
		t.Fatalf("%d findings", n)
	}
	if last := report.Findings[mostAlike]; !strings.Contains(last.Text, "more like these") || !strings.HasPrefix(last.Text, "and 10485") {
		t.Errorf("got %+v", last)
	}
}
