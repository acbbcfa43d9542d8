// Package compiler finds the compilers that a build uses, and knows what is about one of them: its options, its architectures, and what it
// says of kernels.
package compiler

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
)

// CXX is a C++ compiler: the words that start its command, and what tells it from any other (identity.go).
type CXX struct {
	Words    []string
	Identity string
	Clang    bool
}

// FindCXX takes $CXX if it is set, else the first of the usual names.
func FindCXX(ctx context.Context, getenv func(string) string) (CXX, error) {
	candidates := [][]string{{"c++"}, {"g++"}, {"clang++"}}
	named, err := shellquote.Split(getenv("CXX"))
	if err != nil {
		return CXX{}, &pyenv.MissingError{Text: fmt.Sprintf("no C++ compiler: $CXX is %s: %v", getenv("CXX"), err)}
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
			return CXX{}, err
		}
		version, _, _ := strings.Cut(identity, "\n")
		return CXX{words, identity, strings.Contains(version, "clang")}, nil
	}
	if len(named) > 0 {
		return CXX{}, &pyenv.MissingError{Text: "no C++ compiler: $CXX names " + named[0] + ", which is not on PATH"}
	}
	return CXX{}, &pyenv.MissingError{
		Text:    "no C++ compiler: $CXX is not set and none of c++, g++ and clang++ is on PATH",
		Command: "apt-get install g++   (or your system's equivalent)",
	}
}

// Key is a digest that stands for the compiler and for what it reads from the environment.
func (c CXX) Key(getenv func(string) string) string {
	return tree.Key(c.Identity, EnvironmentText(getenv))
}

// Cached says whether a cache stands before the compiler and keeps what it makes, for which it needs to see what is read. Its
// name may be a word of the command, or what the name of the compiler is a link to.
func (c CXX) Cached() bool {
	return slices.ContainsFunc(c.Words, func(word string) bool {
		names := []string{word}
		if found, err := exec.LookPath(word); err == nil {
			if program, err := filepath.EvalSymlinks(found); err == nil {
				names = append(names, program)
			}
		}
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains([]string{"ccache", "sccache"}, filepath.Base(n)) })
	})
}

// GNUFlags are what only GCC gets. Without -fno-gnu-unique, two collections in one process would share statics; clang
// never makes such symbols and does not know the flag.
var GNUFlags = []string{"-fno-gnu-unique"}

// Flags are the options of C++ that depend on the compiler.
func (c CXX) Flags() []string {
	if c.Clang {
		return nil
	}
	return GNUFlags
}

// NVCCFlags have nvcc call the compiler for the code of the host, with the options of C++.
func (c CXX) NVCCFlags() []string {
	program, options := c.hostCompiler()
	return append([]string{"-ccbin", program}, HostWords(append(options, c.Flags()...))...)
}

// FindLibrary asks the compiler where a library is that lies in none of the folders.
func FindLibrary(ctx context.Context, c CXX, folders []string, name string) ([]string, error) {
	for _, file := range []string{"lib" + name + ".so", "lib" + name + ".a"} {
		for _, folder := range folders {
			if found := filepath.Join(folder, file); tree.IsRegular(found) {
				return []string{found}, nil
			}
		}
		// The linker will say that there is none.
		if found, err := c.Find(ctx, file); err != nil || found != "" {
			return []string{found}, err
		}
	}
	return nil, nil
}

// Find asks the compiler where a file of the system's libraries is; the path is empty where there is none.
func (c CXX) Find(ctx context.Context, file string) (string, error) {
	words := append(slices.Clone(c.Words[1:]), "-print-file-name="+file)
	out, err := exec.CommandContext(ctx, c.Words[0], words...).Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for %s: %w", c.Words[0], file, err)
	}
	// A name that comes back without a folder was not found.
	if found := strings.TrimSpace(string(out)); filepath.IsAbs(found) && tree.IsRegular(found) {
		return filepath.Clean(found), nil
	}
	return "", nil
}
