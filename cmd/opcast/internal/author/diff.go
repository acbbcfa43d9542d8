package author

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/breaking"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/system/git"
	"github.com/opcast/opcast/internal/system/safefile"
	"github.com/opcast/opcast/internal/system/tempdir"
)

func newDiffCmd(a commands) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "diff OLD [NEW]",
		Short: "Say what the difference of two states of the collection breaks for callers and stored programs",
		Long: `Compare two states of the collection, and exit with 1 if calls that worked are refused or mean something else.

OLD and NEW are folders with a project, or revisions of the git repository that the project is in. Without NEW, the project is
compared as it lies there:

  opcast diff v0.1`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			old, err := a.state(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			name := a.Dir
			if len(args) == 2 {
				name = args[1]
			}
			after, err := a.state(cmd.Context(), name)
			if err != nil {
				return err
			}
			return a.diff(breaking.Compare(old, after), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

func (a commands) diff(changes []breaking.Change, asJSON bool) error {
	breaks := 0
	for _, c := range changes {
		if c.Breaks {
			breaks++
		}
	}
	switch {
	case asJSON:
		err := a.PrintJSON(struct {
			Changes []breaking.Change `json:"changes"`
		}{append([]breaking.Change{}, changes...)})
		if err != nil {
			return err
		}
	default:
		for _, c := range changes {
			words := []string{c.File, c.Op, map[bool]string{true: "breaks", false: "note"}[c.Breaks], c.Text}
			if c.Op == "" {
				words = append(words[:1], words[2:]...)
			}
			if _, err := fmt.Fprintln(a.Stdout, strings.Join(words, ": ")); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(a.Stdout, app.Count(breaks, "break")); err != nil {
			return err
		}
	}
	if breaks > 0 {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}

// state loads a folder, or what a revision of git had in the project's place.
func (a commands) state(ctx context.Context, name string) (*opdef.Project, error) {
	if _, err := os.Stat(filepath.Join(name, manifest.File)); err == nil {
		return a.loaded(name, name)
	}
	folder, err := tempdir.Make("", "opcast-diff")
	if err != nil {
		return nil, err
	}
	if err := a.extract(ctx, name, folder.Path); err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	p, err := a.loaded(folder.Path, name)
	return p, errors.Join(err, folder.Remove())
}

// loaded is the project in a folder, which the user knows under a name.
func (a commands) loaded(dir, name string) (*opdef.Project, error) {
	p, diags, err := load.Load(dir)
	if err == nil && len(diags) > 0 {
		fmt.Fprintf(a.Stderr, "%s has mistakes:\n", name)
		err = a.Findings(diags)
	}
	return p, err
}

// extract writes the manifest and the definitions of a revision into a folder.
func (a commands) extract(ctx context.Context, revision, dir string) error {
	repository := git.Open(ctx, a.Dir)
	commit, err := repository.Output(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return app.Usage("%s is neither a folder with %s nor a revision of git", revision, manifest.File)
	}
	// Not git archive, which leaves out what .gitattributes marks with export-ignore.
	list, err := repository.Output(ctx, "ls-tree", "-r", "-z", strings.TrimSpace(string(commit)), "--", manifest.File, projectfs.DefinitionsDir)
	if err == nil && len(list) == 0 {
		err = errors.New("it has no definitions")
	}
	if err != nil {
		return app.Usage("revision %s has no project in %s: %w", revision, a.Dir, err)
	}
	return safefile.In(dir, func(root *os.Root) error {
		for line := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
			about, name, _ := strings.Cut(line, "\t")
			words := strings.Fields(about) // mode, type and object
			if !strings.HasPrefix(about, "100") {
				continue // a link, which is none of a definition
			}
			text, err := repository.Output(ctx, "cat-file", "blob", words[2])
			if err == nil {
				_, err = safefile.Write(root, name, text)
			}
			if err != nil {
				return fmt.Errorf("copy %s of revision %s: %w", name, revision, err)
			}
		}
		return nil
	})
}
