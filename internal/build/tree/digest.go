// Package tree knows the files that a build reads: it finds them by patterns, lays those of the runtime out, and digests them.
package tree

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// What a build makes follows from contents alone: the sources and headers, the command lines, the programs that run them,
// and what these read from the environment. No time and no place counts, so that a copied, moved, restored or
// half-written file gives the same library as a fresh clone.
//
// Packages that build themselves compute the same key in Python (_build.py and _tools.py of the backend's package).
// TestJIT compares what the two make.

// Key is the digest of a list of texts. None of them can be mistaken for a part of another.
func Key(texts ...string) string {
	sum := sha256.New()
	for _, text := range texts {
		fmt.Fprintf(sum, "%d\n%s", len(text), text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// FileDigest is the SHA-256 digest of a file's content.
func FileDigest(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	return ContentDigest(content), nil
}

// ContentDigest is the SHA-256 digest of a content, in hexadecimal digits.
func ContentDigest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Digests remembers the digests of files for the time of one look at them. A file that cannot be read has none.
type Digests map[string]string

// Of is the digest of a file.
func (d Digests) Of(file string) (string, error) {
	if digest, ok := d[file]; ok {
		return digest, nil
	}
	digest, err := FileDigest(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read sources: %w", err)
	}
	d[file] = digest
	return digest, nil
}
