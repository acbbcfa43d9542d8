package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// unit is the compilation of one source file.
type unit struct {
	compiler string
	// preprocess are the options of the preprocessor, which also writes the list of headers; options are those that
	// still matter for what it prints.
	preprocess, options []string
	// macros are the options that define or undefine macros.
	macros []string
	// maps are the options that give folders other names in the object.
	maps   []string
	object string
}

// parse takes a command line apart. It reports false for one that is not the compilation of one C++ source file into an
// object, or into one whose debug information would name folders.
func parse(words []string) (u unit, ok bool) {
	u.compiler, u.preprocess = words[0], []string{"-E"}
	compiles, source, headers, debug := false, "", false, false
	for rest := words[1:]; len(rest) > 0; {
		word := rest[0]
		n := min(length(word), len(rest))
		used := rest[:n]
		rest = rest[n:]
		switch {
		case word == "-c":
			compiles = true
			continue
		case word == "-o":
			u.object = used[n-1]
			continue
		case !strings.HasPrefix(word, "-"):
			if source != "" || filepath.Ext(word) != ".cc" && filepath.Ext(word) != ".cpp" {
				return u, false
			}
			source = word
		case strings.HasPrefix(word, "-M"):
			headers = true
		case word == "-x":
			return u, false
		case strings.HasPrefix(word, prefixMap):
			u.maps = append(u.maps, word)
		case strings.HasPrefix(word, "-g") && word != "-g0":
			debug = true
			u.options = append(u.options, word)
		case strings.HasPrefix(word, "-D"), strings.HasPrefix(word, "-U"):
			u.macros = append(u.macros, used...)
		case !ofPreprocessor(word):
			u.options = append(u.options, used...)
		}
		u.preprocess = append(u.preprocess, used...)
	}
	if headers {
		u.preprocess = append(u.preprocess, "-MQ", u.object)
	}
	return u, compiles && source != "" && u.object != "" && (!debug || len(u.maps) > 0)
}

// prefixMap begins the option that gives a folder another name in the object.
const prefixMap = "-ffile-prefix-map="

// mapped gives folders in a preprocessed text the names that they have in the object.
func (u unit) mapped() *strings.Replacer {
	var pairs []string
	for _, option := range u.maps {
		from, to, _ := strings.Cut(strings.TrimPrefix(option, prefixMap), "=")
		pairs = append(pairs, `"`+from+`/`, `"`+to+`/`)
	}
	return strings.NewReplacer(pairs...)
}

// length is the number of words that an option takes up.
func length(option string) int {
	if slices.Contains([]string{"-o", "-x", "-I", "-D", "-U", "-isystem", "-include", "-MF", "-MT", "-MQ"}, option) {
		return 2
	}
	return 1
}

// ofPreprocessor reports whether an option has done all it can when the text is preprocessed.
func ofPreprocessor(option string) bool {
	return slices.ContainsFunc([]string{"-I", "-isystem", "-include", "-fmacro-prefix-map="},
		func(prefix string) bool { return strings.HasPrefix(option, prefix) })
}

// target is the pragma that defines macros while a text is compiled: not all of that can be seen when it is preprocessed. Such a text is
// compiled as it stands, and is the same one if all files that it comes from are the same.
const target = "#pragma GCC target"

// compile makes the object, of the cache's copy if there is one.
func (u unit) compile(dir string) error {
	text, err := silently(exec.Command(u.compiler, u.preprocess...))
	if err != nil {
		return err
	}
	compiler, err := identity(u.compiler)
	if err != nil {
		return err
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q\n", compiler, u.options)
	_, _ = u.mapped().WriteString(sum, string(text)) // a sum takes all
	if bytes.Contains(text, []byte(target)) {
		fmt.Fprintf(sum, "%q\n", u.macros)
		if err := addFiles(sum, text); err != nil {
			return err
		}
		text = nil
	}
	entry := filepath.Join(dir, fmt.Sprintf("%x.o", sum.Sum(nil)))
	if err := u.fillOnce(entry, text); err != nil {
		return err
	}
	object, err := os.ReadFile(entry)
	if err != nil {
		return err
	}
	return os.WriteFile(u.object, object, 0o644)
}

// lineOf is how a preprocessed text says of which file the lines below are.
var lineOf = regexp.MustCompile(`(?m)^# \d+ "([^"<]+)"`)

// addFiles adds all files that a preprocessed text comes from to a sum.
func addFiles(sum io.Writer, text []byte) error {
	seen := map[string]bool{}
	for _, match := range lineOf.FindAllSubmatch(text, -1) {
		path := string(match[1])
		if seen[path] || strings.HasSuffix(path, "/") { // with -g, the first line names the folder
			continue
		}
		seen[path] = true
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%d\n%s", len(content), content)
	}
	return nil
}

// fillOnce sees to it that an entry exists. Of several processes that want it, one compiles and the others wait: tests begin with the
// same runtime at the same time.
func (u unit) fillOnce(entry string, text []byte) error {
	if _, err := os.Stat(entry); err == nil {
		return nil
	}
	locks := filepath.Join(filepath.Dir(entry), ".locks")
	if err := os.MkdirAll(locks, 0o755); err != nil {
		return err
	}
	lock, err := os.Create(filepath.Join(locks, filepath.Base(entry)))
	if err != nil {
		return err
	}
	defer lock.Close() // which ends the lock, as the end of the process does
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	if _, err := os.Stat(entry); err == nil {
		return nil
	}
	return u.fill(entry, text)
}

// fill compiles a preprocessed text, or the source if there is none, into an entry of the cache, which appears in one step.
func (u unit) fill(entry string, text []byte) error {
	temp, err := os.MkdirTemp(filepath.Dir(entry), ".new-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	object := filepath.Join(temp, "object")
	words := slices.Concat(u.options, u.maps, []string{"-x", "c++-cpp-output", "-c", "-", "-o", object})
	if text == nil {
		words = slices.Concat(u.preprocess[1:], []string{"-c", "-o", object}) // all but -E
	}
	cmd := exec.Command(u.compiler, words...)
	cmd.Stdin = bytes.NewReader(text)
	if _, err := silently(cmd); err != nil {
		return err
	}
	return os.Rename(object, entry)
}

// silently returns what a command prints. It is an error if it says anything else.
func silently(cmd *exec.Cmd) ([]byte, error) {
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err == nil && said.Len() > 0 {
		err = errors.New(said.String())
	}
	return out, err
}

// identity tells a compiler from any other, and from itself after an update.
func identity(compiler string) (string, error) {
	path, err := exec.LookPath(compiler)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()), nil
}
