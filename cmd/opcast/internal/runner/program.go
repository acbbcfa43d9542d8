package runner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/opcast/opcast/internal/build/pyenv"
)

// Compiler says how to compile the program.
type Compiler struct {
	// Words begin the command line; Key stands for the compiler that they start and for tvm-ffi; Include is tvm-ffi's header
	// folder; Source holds the program's files.
	Words        []string
	Key, Include string
	Source       fs.FS
}

// Program compiles the program into the folder, unless it is there already from the same text and compiler. One process at
// a time may do so.
func (c Compiler) Program(ctx context.Context, dir string, stderr io.Writer) (string, error) {
	key, err := c.key()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "runner-"+key)
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	work := filepath.Join(dir, ".runner") // there may be one of a run that was killed
	if err := os.RemoveAll(work); err != nil {
		return "", fmt.Errorf("compile the runner: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, c.Source); err != nil {
		return "", fmt.Errorf("lay the runner out: %w", err)
	}
	temp := filepath.Join(work, "program")
	args := append(slices.Clone(c.Words[1:]), "-std=c++17", "-O1", "-g", "-isystem", c.Include,
		"-I"+filepath.Join(work, "runner"), filepath.Join(work, "runner", "run.cc"), "-o", temp, "-ldl")
	cmd := exec.CommandContext(ctx, c.Words[0], args...)
	cmd.Stderr = stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("compile the runner: %w", err)
	}
	return program, os.Rename(temp, program)
}

// key changes with the program's text and with what compiles it.
func (c Compiler) key() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, c.Words, c.Key, c.Include)
	err := fs.WalkDir(c.Source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(c.Source, path)
		fmt.Fprintf(h, "%s %d\n%s", path, len(text), text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the runner: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// tools are the programs under which a case can run, with the words before the runner's.
var tools = map[string][]string{
	"gdb":               {"--quiet", "--args"},
	"valgrind":          {"--error-exitcode=9", "--quiet"},
	"compute-sanitizer": {"--error-exitcode=9"},
	"ncu":               {"--target-processes=all"},
}

// Tools lists the names of the tools.
func Tools() []string { return []string{"compute-sanitizer", "gdb", "ncu", "valgrind"} }

// RunUnder runs a case under a tool, which talks to the given streams.
func RunUnder(ctx context.Context, tool, program, path string, stdin io.Reader, stdout, stderr io.Writer) error {
	found, err := exec.LookPath(tool)
	if err != nil {
		return &pyenv.MissingError{Text: tool + " is not on PATH"}
	}
	cmd := exec.CommandContext(ctx, found, append(append([]string{}, tools[tool]...), program, path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	return nil
}

// Answer is what a kernel says about a call. An empty Reason means that it takes the call.
type Answer struct {
	Name   string `json:"name"`
	Device string `json:"device"`
	Reason string `json:"reason"`
}

// ReadAnswers reads what a library says about a call when it is asked by _opcast_explain: one answer for each kernel, in
// the order of dispatch.
func ReadAnswers(text string) ([]Answer, error) {
	var answers []Answer
	if err := json.Unmarshal([]byte(text), &answers); err != nil {
		return nil, fmt.Errorf("the library's explanation of a call: %w", err)
	}
	return answers, nil
}
