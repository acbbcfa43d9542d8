package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMain lets the test program be the command: `<program> c++ ...`.
func TestMain(m *testing.M) {
	if os.Getenv("CCACHE_TEST") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// project is a folder with a unit and its header, and a cache.
type project struct {
	t          *testing.T
	dir, cache string
}

func newProject(t *testing.T, cache string) *project {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	p := &project{t, t.TempDir(), cache}
	p.write("value.h", "#pragma once\n#define VALUE 1\n")
	p.write("unit.cc", "#include \"value.h\"\nint Value() { return VALUE; }\n")
	return p
}

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// compile returns the object and what the command says. Beyond the words it gets those that every build uses.
func (p *project) compile(env string, words ...string) (object []byte, said string, code int) {
	p.t.Helper()
	object, out := nil, filepath.Join(p.dir, "unit.o")
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	words = append([]string{"c++", "-ffile-prefix-map=" + p.dir + "=.", "-Wall", "-MD", "-MF", "unit.d"}, words...)
	cmd := exec.Command(os.Args[0], append(words, "-c", "unit.cc", "-o", "unit.o")...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "CCACHE_TEST=1", "CCACHE_DIR="+p.cache, env)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	if object, err = os.ReadFile(out); err != nil && cmd.ProcessState.Success() {
		p.t.Fatal(err)
	}
	return object, string(text), cmd.ProcessState.ExitCode()
}

// entries is the number of objects in the cache.
func (p *project) entries() int {
	found, err := filepath.Glob(filepath.Join(p.cache, "*.o"))
	if err != nil {
		p.t.Fatal(err)
	}
	return len(found)
}

// One text is compiled once, wherever it lies, to what the compiler alone makes of it; another text, and other options, make
// another object.
func TestCache(t *testing.T) {
	cache := t.TempDir()
	first, second, third := newProject(t, cache), newProject(t, cache), newProject(t, cache)
	want, _, _ := first.compile("CCACHE_DISABLE=1")
	if n := first.entries(); n != 0 {
		t.Fatalf("a cache that is turned off holds %d objects", n)
	}
	steps := []struct {
		name    string
		project *project
		edit    func()
		words   []string
		entries int
		same    bool
	}{
		{"new", first, func() {}, nil, 1, true},
		{"again", first, func() {}, nil, 1, true},
		{"elsewhere", second, func() {}, nil, 1, true},
		{"unused macro", second, func() {}, []string{"-DUNUSED"}, 1, true},
		{"edited header", second, func() { second.write("value.h", "#define VALUE 2\n") }, nil, 2, false},
		{"macro", second, func() { second.write("value.h", "") }, []string{"-D", "VALUE=3"}, 3, false},
		{"other option", first, func() {}, []string{"-O2"}, 4, false},
		{"debug", first, func() {}, []string{"-g"}, 5, false},
		{"debug elsewhere", third, func() {}, []string{"-g"}, 5, false},
	}
	for _, s := range steps {
		s.edit()
		got, said, code := s.project.compile("", s.words...)
		if code != 0 || said != "" || bytes.Equal(got, want) != s.same || s.project.entries() != s.entries {
			t.Errorf("%s: exit code %d, said %q, same object: %v, %d entries, want %v and %d",
				s.name, code, said, bytes.Equal(got, want), s.project.entries(), s.same, s.entries)
		}
		headers, err := os.ReadFile(filepath.Join(s.project.dir, "unit.d"))
		if err != nil || !strings.HasPrefix(string(headers), "unit.o: unit.cc") || !strings.Contains(string(headers), "value.h") {
			t.Errorf("%s: the list of headers is %q, %v", s.name, headers, err)
		}
	}
}

// TestWrapped: PyTorch takes the words of CXX for one program.
func TestWrapped(t *testing.T) {
	p := newProject(t, t.TempDir())
	cmd := exec.Command(os.Args[0], "ccache c++", "-c", "unit.cc", "-o", "unit.o")
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "CCACHE_TEST=1", "CCACHE_DIR="+p.cache)
	if text, err := cmd.CombinedOutput(); err != nil || p.entries() != 1 {
		t.Errorf("%v, %d entries: %s", err, p.entries(), text)
	}
}

// What is not the silent compilation of one unit is the compiler's: its words, its exit code, and nothing in the cache.
func TestCompilerSpeaks(t *testing.T) {
	for name, tt := range map[string]struct {
		unit  string
		words []string
		code  int
		said  string
	}{
		"error":   {"int Value() { return nonsense; }\n", nil, 1, "unit.cc:1:22: error:"},
		"warning": {"static int Unused() { return 1; }\n", nil, 0, "unit.cc:1:12: warning:"},
		"missing": {"#include \"absent.h\"\n", nil, 1, "unit.cc:1:10: fatal error:"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, t.TempDir())
			p.write("unit.cc", tt.unit)
			_, said, code := p.compile("", tt.words...)
			if code != tt.code || !strings.Contains(said, tt.said) || (tt.said == "") != (said == "") || p.entries() != 0 {
				t.Errorf("exit code %d, %d entries, said %q, want %d and %q", code, p.entries(), said, tt.code, tt.said)
			}
		})
	}
}

// Code that only a pragma brings in cannot be seen when the text is preprocessed; the cache sees it nevertheless.
func TestTarget(t *testing.T) {
	const unit = "#pragma GCC target(\"avx2\")\n#ifdef __AVX2__\n#include \"value.h\"\nint Value() { return VALUE; }\n#endif\n#include \"seen.h\"\n"
	cache := t.TempDir()
	first, second := newProject(t, cache), newProject(t, cache)
	for _, p := range []*project{first, second} {
		p.write("unit.cc", unit)
		p.write("value.h", "")
		p.write("seen.h", "#ifdef __AVX2__\nint Other() { return 1; }\n#endif\n")
	}
	for _, s := range []struct {
		project *project
		value   string
		entries int
	}{{first, "1", 1}, {second, "1", 1}, {first, "2", 2}, {first, "1", 2}, {second, "2", 2}} {
		want, _, _ := s.project.compile("CCACHE_DISABLE=1", "-DVALUE="+s.value)
		got, said, code := s.project.compile("", "-DVALUE="+s.value)
		if code != 0 || said != "" || !bytes.Equal(got, want) || s.project.entries() != s.entries {
			t.Errorf("VALUE=%s: exit code %d, said %q, the compiler's object: %v, %d entries, want %d",
				s.value, code, said, bytes.Equal(got, want), s.project.entries(), s.entries)
		}
	}
	first.write("seen.h", "#ifdef __AVX2__\nint Other() { return 2; }\n#endif\n")
	if _, said, code := first.compile("", "-DVALUE=1"); code != 0 || said != "" || first.entries() != 3 {
		t.Errorf("an edited header: exit code %d, said %q, %d entries, want 3", code, said, first.entries())
	}
}
