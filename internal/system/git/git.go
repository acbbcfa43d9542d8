// Package git asks git about the repository of a project, which may be a stranger's.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// Repository is a folder about which git is asked.
type Repository struct {
	dir string
	// settings are what git is told, whatever the repository says.
	settings []string
	// err is why it cannot be asked.
	err error
}

// Open makes a repository of a folder. Git runs no program that its configuration names: no hook, no monitor of files, no
// filter, and nothing that would fetch what lacks. What the user has configured stays.
func Open(ctx context.Context, dir string) *Repository {
	r := &Repository{dir: dir, settings: []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"}}
	listed, err := r.Output(ctx, "config", "--list", "--includes", "--show-scope", "--name-only", "-z")
	if r.err = err; err != nil {
		return r
	}
	words := strings.Split(string(listed), "\x00")
	for i := 0; i+1 < len(words); i += 2 {
		scope, name := words[i], words[i+1]
		if scope != "local" && scope != "worktree" || !strings.HasPrefix(name, "filter.") {
			continue
		}
		if strings.Contains(name, "=") { // the setting would be for another filter
			r.err = fmt.Errorf("the repository of %s configures the filter %q", dir, name)
		}
		r.settings = append(r.settings, "-c", name+"=") // no program, and not required
	}
	return r
}

// Output asks git, and returns what it prints. All calls of git go through here. None may show differences, for which a
// repository can configure more programs.
func (r *Repository) Output(ctx context.Context, words ...string) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	cmd := exec.CommandContext(ctx, "git", slices.Concat([]string{"--no-pager", "--no-optional-locks"}, r.settings, words)...)
	cmd.Dir = r.dir
	cmd.Env = append(cmd.Environ(), "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", words[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return out, err
}

// Source is the state of a project's folder.
type Source struct {
	// Commit is that of git, empty for a folder of which git does not know. Dirty says that files differ from it, or that there
	// are others.
	Commit string
	Dirty  bool
}

// made are the folders of files that commands write, and no commit need have.
var made = []string{":(exclude)build", ":(exclude)dist", ":(exclude)backend", ":(exclude)adaptors", ":(exclude)docs/ops"}

// FindSource asks git about a project's folder. Without git, or where git does not know the manifest, there is no commit.
func FindSource(ctx context.Context, dir, manifest string) Source {
	r := Open(ctx, dir)
	if _, err := r.Output(ctx, "ls-files", "--error-unmatch", "--", manifest); err != nil {
		return Source{}
	}
	commit, err := r.Output(ctx, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return Source{}
	}
	// Git would ask the repository of a submodule with its own configuration about the files in it.
	changed, errChanged := r.Output(ctx, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=dirty", "--", ".")
	others, errOthers := r.Output(ctx, append([]string{"ls-files", "--others", "--exclude-standard", "--", "."}, made...)...)
	dirty := len(changed)+len(others) > 0 || errors.Join(errChanged, errOthers) != nil
	return Source{Commit: strings.TrimSpace(string(commit)), Dirty: dirty}
}
