package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/safefile"
)

// Sanitizer is what GCC puts into a library so that it looks for errors of one kind while it runs.
type Sanitizer struct {
	// Kind is its name for the compiler, Title that in its reports.
	Kind, Title string
	runtime     string
	flags       []string
	// variable and options are those with which its runtime starts.
	variable, options string
	// loaded are the libraries that must come before all others of a process, the runtime first.
	loaded []string
}

// SanitizerOfThreads is the kind that looks for races. It does not see how Go synchronises its threads and
// reuses memory, and would report races that are none.
const SanitizerOfThreads = "thread"

var sanitizers = []Sanitizer{
	{
		Kind: "address", Title: "AddressSanitizer", runtime: "libasan.so",
		// Python and the runtime keep memory to the end on purpose; the suite's check `leaks` counts what calls leave.
		variable: "ASAN_OPTIONS", options: "detect_leaks=0:print_legend=0",
	},
	{
		Kind: "undefined", Title: "UndefinedBehaviorSanitizer", runtime: "libubsan.so",
		// With the checks of nulls, GCC takes addresses of functions in constant expressions, such as tables of kernels, for unknown.
		flags:    []string{"-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute", "-fno-sanitize-recover=all"},
		variable: "UBSAN_OPTIONS", options: "print_stacktrace=1",
	},
	{
		// Children of a process with threads start threads of their own, which the pool supports. What tvm-ffi's handler of signals does
		// is not the library's.
		Kind: SanitizerOfThreads, Title: "ThreadSanitizer", runtime: "libtsan.so",
		variable: "TSAN_OPTIONS", options: "halt_on_error=1:die_after_fork=0:report_signal_unsafe=0",
	},
}

// SanitizerKinds are the names of all sanitizers.
func SanitizerKinds() (names []string) {
	for _, s := range sanitizers {
		names = append(names, s.Kind)
	}
	return names
}

// FindSanitizer looks for what a kind of sanitizer needs on this machine.
func FindSanitizer(ctx context.Context, kind string, getenv func(string) string) (*Sanitizer, error) {
	s := sanitizers[slices.IndexFunc(sanitizers, func(s Sanitizer) bool { return s.Kind == kind })]
	cxx, err := compiler.FindCXX(ctx, getenv)
	if err != nil {
		return nil, err
	}
	if cxx.Clang {
		return nil, &pyenv.MissingError{Text: s.Title + " can be loaded into Python with GCC only, and " + strings.Join(cxx.Words, " ") + " is clang",
			Command: "CXX=g++ opcast test --sanitize " + kind}
	}
	// The C++ library comes second, since Python does not link it, and exceptions are looked up when the first one loads.
	for _, name := range []string{s.runtime, "libstdc++.so"} {
		found, err := cxx.Find(ctx, name)
		if err != nil {
			return nil, err
		}
		if found = linkedBy(found); found == "" {
			return nil, &pyenv.MissingError{Text: fmt.Sprintf("%s needs %s, which %s does not find", s.Title, name, strings.Join(cxx.Words, " ")),
				Command: "apt-get install libgcc-VERSION-dev libstdc++-VERSION-dev, dnf install " + strings.TrimSuffix(name, ".so") + "   (or your system's equivalent)"}
		}
		s.loaded = append(s.loaded, found)
	}
	s.flags = append([]string{"-fsanitize=" + kind}, s.flags...)
	return &s, nil
}

var comments = regexp.MustCompile(`(?s)/\*.*?\*/`)

// linkedBy is the library for which a file stands that a linker finds: some systems put a script there that names it.
func linkedBy(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	if !strings.HasPrefix(string(text), "\x7fELF") {
		words := strings.FieldsFunc(comments.ReplaceAllString(string(text), " "), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()", r) })
		i := slices.IndexFunc(words, filepath.IsAbs)
		if i < 0 {
			return ""
		}
		file = words[i]
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return ""
}

// words are the options of the compiler; there are none without a sanitizer.
func (s *Sanitizer) words() []string {
	if s == nil {
		return nil
	}
	return s.flags
}

// optimisation says how fast the code is to be, and what debuggers and sanitizers can tell of it.
func (in inputs) optimisation() []string {
	switch {
	case in.sanitizer != nil:
		return append([]string{"-O1", "-g1"}, in.sanitizer.flags...)
	case in.debug:
		return []string{"-O0", "-g"}
	}
	return []string{"-O3", "-g0"}
}

// folder holds the objects of a build with the sanitizer.
func (s *Sanitizer) folder() string { return "build/sanitize/" + s.Kind }

// site is the folder from which Python imports the backend's package with the library of that build. The project's own package keeps
// its library.
func (s *Sanitizer) site() string { return s.folder() + "/site" }

// inSite is where a file of the backend's package lies; without a sanitizer it stays where it is.
func (s *Sanitizer) inSite(file string) string {
	if s == nil {
		return file
	}
	return s.site() + strings.TrimPrefix(file, "backend/python/src")
}

// Installed says where a build with the sanitizer puts the backend's package of a project, and the library in it.
func (s *Sanitizer) Installed(p *opdef.Project) *opdef.Installed {
	return &opdef.Installed{Site: tree.Local(p.Dir, s.site()), Library: tree.Local(p.Dir, s.inSite(backendLibrary(p)))}
}

// install copies the Python modules of the backend's package into site, where the library already is.
func (s *Sanitizer) install(root *os.Root, p *opdef.Project) error {
	modules, err := tree.Glob(p.Dir, p.BackendFolder()+"/**/*.py")
	if err != nil {
		return err
	}
	for _, m := range modules {
		text, err := safefile.Read(root, m)
		if err == nil {
			_, err = safefile.Write(root, s.inSite(m), text)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// allow adds what the sanitizer brings to what a library may need.
func (s *Sanitizer) allow(policy *elfcheck.Policy) error {
	own, err := elfcheck.Read(s.loaded[0])
	if err != nil {
		return err
	}
	policy.Linked = append(policy.Linked, s.runtime)
	policy.Provided = slices.Concat(policy.Provided, own.Exports)
	slices.Sort(policy.Provided)
	return nil
}

// Under are the words that start a program which is to load the library. Options that the user has set come last, and count.
func (s *Sanitizer) Under(p *opdef.Project, getenv func(string) string) []string {
	words := []string{
		"env", "LD_PRELOAD=" + strings.Join(s.loaded, ":"),
		s.variable + "=" + strings.TrimSuffix(s.options+":"+getenv(s.variable), ":"),
		"PYTHONPATH=" + strings.TrimSuffix(s.Installed(p).Site+":"+getenv("PYTHONPATH"), ":"),
		p.Manifest.Variable("NUM_THREADS") + "=4", // so that threads meet, on any machine
		"OPENBLAS_NUM_THREADS=1", // NumPy's threads wait in ways that ThreadSanitizer does not see
		"PYTHONMALLOC=malloc",    // so that even small arrays have bounds
	}
	// Where the kernel chooses addresses from more than 28 random bits, GCC's sanitizers of memory and threads may refuse to run before
	// version 14.
	text, _ := os.ReadFile("/proc/sys/vm/mmap_rnd_bits") // some kernels have none
	if bits, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && bits > 28 && s.Kind != "undefined" {
		words = append([]string{"setarch", "-R"}, words...)
	}
	return words
}
