package matrix

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/system/version"
)

// Interpreter is a CPython of this machine: its version ("3.12.1"), its series ("3.12") and its program.
type Interpreter struct{ Version, Series, Path string }

// ask makes an interpreter tell what it is; those of virtual environments tell that, too.
const ask = "import sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], " +
	"'%d.%d.%d' % sys.version_info[:3], sys.prefix == sys.base_prefix)"

// Interpreters finds those on the path and those that pyenv keeps, ascending. Of the same version there is one.
func Interpreters(ctx context.Context, getenv func(string) string) []Interpreter {
	folders := filepath.SplitList(getenv("PATH"))
	for _, base := range []string{getenv("PYENV_ROOT"), filepath.Join(getenv("HOME"), ".pyenv")} {
		more, _ := filepath.Glob(filepath.Join(base, "versions/*/bin")) // the pattern is well formed
		folders = append(folders, more...)
	}
	var found []Interpreter
	for _, folder := range folders {
		if !filepath.IsAbs(folder) {
			continue // programs of the folder in which somebody happens to be are not asked
		}
		programs, _ := filepath.Glob(filepath.Join(folder, "python3.[0-9]*"))
		for _, path := range programs {
			// A pyenv shim whose version is switched off, or python3.11-config, fails here and is passed over.
			words, err := answer(ctx, path)
			if err != nil || len(words) != 4 || words[0] != "cpython" || words[3] != "True" {
				continue
			}
			if !slices.ContainsFunc(found, func(i Interpreter) bool { return i.Version == words[2] }) {
				found = append(found, Interpreter{Version: words[2], Series: words[1], Path: path})
			}
		}
	}
	slices.SortFunc(found, func(a, b Interpreter) int { return version.Compare(a.Version, b.Version) })
	return found
}

// answer asks one; a program of that name that waits for something is none.
func answer(ctx context.Context, path string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-c", ask)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	return strings.Fields(string(out)), err
}

// seriesOf lists each series once.
func seriesOf(pythons []Interpreter) []string {
	var out []string
	for _, p := range pythons {
		out = append(out, p.Series)
	}
	return slices.Compact(out)
}

// candidates are the interpreters to try for an environment, the best first.
func candidates(e Environment, pythons []Interpreter) []Interpreter {
	var out []Interpreter
	for _, p := range pythons {
		if e.Python == "" || e.Python == p.Series {
			out = append(out, p)
		}
	}
	if !e.Oldest {
		slices.Reverse(out)
	}
	return out
}
