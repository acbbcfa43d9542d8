package compiler

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
)

// Environment are the variables that change what compilers and linkers make.
var Environment = []string{
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH",
	"CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", "NIX_CFLAGS_COMPILE", "NIX_LDFLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
}

// EnvironmentText says how these variables are set.
func EnvironmentText(getenv func(string) string) string {
	var text strings.Builder
	for _, name := range Environment {
		fmt.Fprintf(&text, "%s=%s\n", name, getenv(name))
	}
	return text.String()
}

// compilerIdentity tells a C++ compiler from any other: by what it says of itself, by the words of its command and by the
// content of its programs. The driver that the words name starts another program, which the driver can name. What a launcher
// such as ccache starts is the same compiler.
func compilerIdentity(ctx context.Context, words []string) (string, error) {
	words = withoutLauncher(words)
	text, err := identity(ctx, words)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, words[0], append(words[1:len(words):len(words)], "-print-prog-name=cc1plus")...).Output()
	if err != nil {
		return text, nil // not every compiler consists of such parts
	}
	digest, err := programDigest(strings.TrimSpace(string(out)))
	return text + digest, err
}

// identity tells a program with options from any other.
func identity(ctx context.Context, words []string) (string, error) {
	out, err := exec.CommandContext(ctx, words[0], append(words[1:len(words):len(words)], "--version")...).Output()
	if err != nil {
		return "", &pyenv.MissingError{Text: fmt.Sprintf("ask %s for its version: %v", words[0], err)}
	}
	text := string(out) + strings.Join(words[1:], "\n") + "\n"
	for _, word := range words {
		digest, err := programDigest(word)
		if err != nil {
			return "", err
		}
		text += digest
	}
	return text, nil
}

// programDigest is a line with the digest of a program on PATH, or nothing if the word names none.
func programDigest(word string) (string, error) {
	found, err := exec.LookPath(word)
	if err != nil {
		return "", nil //nolint:nilerr // an option is no program
	}
	digest, err := tree.FileDigest(found)
	if err != nil {
		return "", fmt.Errorf("read the program %s: %w", found, err)
	}
	return digest + "\n", nil
}
