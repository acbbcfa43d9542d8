package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/opcast/opcast/internal/pyenv"
)

// What a build makes follows from contents alone: the sources and headers, the command lines, the programs that run them,
// and what these read from the environment. No time and no place counts, so that a copied, moved, restored or
// half-written file gives the same library as a fresh clone.
//
// Packages that build themselves compute the same key in Python (_build.py and _tools.py of the backend's package).
// TestJIT compares what the two make.

// key is the digest of a list of texts. None of them can be mistaken for a part of another.
func key(texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(sum, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// environment are the variables that change what compilers and linkers make.
var environment = []string{
	"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LD_RUN_PATH",
	"CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH", "NIX_CFLAGS_COMPILE", "NIX_LDFLAGS", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN",
}

// environmentText says how these variables are set.
func environmentText(getenv func(string) string) string {
	var text strings.Builder
	for _, name := range environment {
		fmt.Fprintf(&text, "%s=%s\n", name, getenv(name))
	}
	return text.String()
}

// toolchain says which programs and packages a build uses.
func (in inputs) toolchain() string {
	text := in.compiler.identity + in.portability()
	if in.cuda != nil {
		text += in.cuda.identity
	}
	if in.hip != nil {
		text += in.hip.identity
	}
	for _, d := range in.distributions() {
		text += d + " " + in.env.Packages[d] + "\n"
	}
	return text
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
	digest, err := fileDigest(found)
	if err != nil {
		return "", fmt.Errorf("read the program %s: %w", found, err)
	}
	return digest + "\n", nil
}

// fileDigest is the SHA-256 digest of a file's content.
func fileDigest(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return contentDigest(content), nil
}

func contentDigest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// digests remembers the digests of files for the time of one look at them. A file that cannot be read has none.
type digests map[string]string

func (d digests) of(file string) (string, error) {
	if digest, ok := d[file]; ok {
		return digest, nil
	}
	digest, err := fileDigest(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read sources: %w", err)
	}
	d[file] = digest
	return digest, nil
}
