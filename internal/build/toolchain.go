package build

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/opcast/opcast/internal/pyenv"
)

// compiler is a C++ compiler: the words that start its command, and what tells it from any other (identity.go).
type compiler struct {
	words    []string
	identity string
	clang    bool
}

// findCompiler takes $CXX if it is set, else the first of the usual names.
func findCompiler(ctx context.Context, getenv func(string) string) (compiler, error) {
	candidates := [][]string{{"c++"}, {"g++"}, {"clang++"}}
	named, err := shellquote.Split(getenv("CXX"))
	if err != nil {
		return compiler{}, &pyenv.MissingError{Text: fmt.Sprintf("no C++ compiler: $CXX is %s: %v", getenv("CXX"), err)}
	}
	if len(named) > 0 {
		candidates = [][]string{named}
	}
	for _, words := range candidates {
		if _, err := exec.LookPath(words[0]); err != nil {
			continue
		}
		identity, err := compilerIdentity(ctx, words)
		if err != nil {
			return compiler{}, err
		}
		version, _, _ := strings.Cut(identity, "\n")
		return compiler{words, identity, strings.Contains(version, "clang")}, nil
	}
	if len(named) > 0 {
		return compiler{}, &pyenv.MissingError{Text: "no C++ compiler: $CXX names " + named[0] + ", which is not on PATH"}
	}
	return compiler{}, &pyenv.MissingError{
		Text:    "no C++ compiler: $CXX is not set and none of c++, g++ and clang++ is on PATH",
		Command: "apt-get install g++   (or your system's equivalent)",
	}
}

// Compiler is the C++ compiler of this machine: the words that start its command, and a digest that stands for it and for
// what it reads from the environment.
type Compiler struct {
	Words []string
	Key   string
}

// FindCompiler finds the compiler that a build uses.
func FindCompiler(ctx context.Context, getenv func(string) string) (Compiler, error) {
	c, err := findCompiler(ctx, getenv)
	return Compiler{c.words, key(c.identity, environmentText(getenv))}, err
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
