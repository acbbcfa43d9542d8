package hub

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"strings"
)

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
	git := func(words ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", words...)
		cmd.Dir = dir
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("ls-files", "--error-unmatch", "--", manifest); err != nil {
		return Source{}
	}
	commit, err := git("rev-parse", "--verify", "HEAD")
	if err != nil {
		return Source{}
	}
	changed, errChanged := git("status", "--porcelain", "--untracked-files=no", "--", ".")
	others, errOthers := git(append([]string{"ls-files", "--others", "--exclude-standard", "--", "."}, made...)...)
	return Source{Commit: commit, Dirty: changed != "" || others != "" || errChanged != nil || errOthers != nil}
}

// short is what tells a kernel from others made of other sources: the beginning of the commit. Where the files are not those of
// a commit, it is that of a digest of what is built of them.
func (s Source) short(files map[string][]byte) string {
	if s.Commit != "" && !s.Dirty {
		return s.Commit[:7]
	}
	sum := sha256.New()
	for _, f := range inOrder(files) {
		fmt.Fprintf(sum, "%s %d\n", f.Name, len(f.Content))
		sum.Write(f.Content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))[:7]
}
