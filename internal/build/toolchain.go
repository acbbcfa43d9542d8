package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/pyenv"
)

// compiler is a C++ compiler: the words that start its command, and what it says of itself.
type compiler struct {
	words   []string
	version string
	clang   bool
}

// findCompiler takes $CXX if it is set, else the first of the usual names.
func findCompiler(ctx context.Context, getenv func(string) string) (compiler, error) {
	candidates := [][]string{{"c++"}, {"g++"}, {"clang++"}}
	named := strings.Fields(getenv("CXX"))
	if len(named) > 0 {
		candidates = [][]string{named}
	}
	for _, words := range candidates {
		if _, err := exec.LookPath(words[0]); err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, words[0], append(words[1:], "--version")...).Output()
		if err != nil {
			return compiler{}, fmt.Errorf("ask %s for its version: %w", words[0], err)
		}
		version, _, _ := strings.Cut(string(out), "\n")
		return compiler{words, version, strings.Contains(version, "clang")}, nil
	}
	if len(named) > 0 {
		return compiler{}, &pyenv.MissingError{Text: "no C++ compiler: $CXX names " + named[0] + ", which is not on PATH"}
	}
	return compiler{}, &pyenv.MissingError{
		Text:    "no C++ compiler: $CXX is not set and none of c++, g++ and clang++ is on PATH",
		Command: "apt-get install g++   (or your system's equivalent)",
	}
}

// FindCompiler returns the words that start the command of the C++ compiler.
func FindCompiler(ctx context.Context, getenv func(string) string) ([]string, error) {
	c, err := findCompiler(ctx, getenv)
	return c.words, err
}

// findNinja returns the environment's ninja or the one on PATH, and an error that names every package that a build
// lacks.
func findNinja(env *pyenv.Env) (program string, err error) {
	lacking := env.Lacking("apache-tvm-ffi")
	if program = env.Ninja; program == "" {
		// The package may be installed, but elsewhere: an environment can borrow from another.
		if program, err = exec.LookPath("ninja"); err != nil {
			lacking = append(lacking, "ninja")
		}
	}
	if len(lacking) > 0 {
		return "", env.Missing(lacking...)
	}
	return program, nil
}

// errFailed is all there is to say after ninja and the compiler have spoken.
var errFailed = errors.New("build failed")

// runNinja runs the build file from the project's folder.
func runNinja(ctx context.Context, o Options, program, file string) error {
	args := []string{"-f", file}
	if o.Verbose {
		args = append(args, "-v")
	}
	if o.Quiet {
		o.Log = busy{o.Log}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Project.Dir, o.Log, o.Log
	// An interrupt lets ninja end its compilers and delete half-written objects.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) && ctx.Err() == nil {
		return errFailed
	} else if err != nil {
		return fmt.Errorf("run ninja: %w", err)
	}
	return nil
}

// busy hands on what ninja says, unless it says that there is nothing to do.
type busy struct{ io.Writer }

func (w busy) Write(text []byte) (int, error) {
	if string(text) == "ninja: no work to do.\n" {
		return len(text), nil
	}
	return w.Writer.Write(text)
}
