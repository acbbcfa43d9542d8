package compiler

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
)

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
