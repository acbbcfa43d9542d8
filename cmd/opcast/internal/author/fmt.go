package author

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/opcast/opcast/internal/system/safefile"
)

func newFmtCmd(a commands) *cobra.Command {
	check := false
	cmd := &cobra.Command{
		Use:   "fmt [FILE...]",
		Short: "Format the manifest and the definitions",
		Long: `Format the manifest and the definitions of the project, or the files that are named. With "-", read a file from the
standard input and print it formatted, as editors want it.

Comments, the order of keys, line breaks and spaces that align columns stay.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if slices.Equal(args, []string{"-"}) {
				return a.formatStream()
			}
			return a.formatFiles(args, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if a file is not formatted")
	return cmd
}

// formatStream formats what comes in.
func (a commands) formatStream() error {
	data, err := io.ReadAll(a.Stdin)
	if err != nil {
		return fmt.Errorf("read input: %w", err)
	}
	out, diags, err := formatted("-", data)
	if err != nil {
		return err
	}
	if err := a.Findings(diags); err != nil {
		return err
	}
	_, err = diag.Raw(a.Stdout).Write(out) // a file, to the byte
	return err
}

// formatted is a file in the style, or what is wrong with it.
func formatted(name string, data []byte) ([]byte, diag.List, error) {
	var diags diag.List
	if tomldoc.Parse(name, data, &diags); len(diags) > 0 {
		return nil, diags, nil
	}
	out, err := tomlfmt.Format(data)
	if err != nil {
		err = fmt.Errorf("format %s: %w", name, err)
	}
	return out, nil, err
}

// formatFiles formats files of the project. One that cannot be read keeps no other from being formatted.
func (a commands) formatFiles(files []string, check bool) error {
	if err := a.NeedProject(); err != nil {
		return err
	}
	tree, err := projectfs.Open(a.Dir, projectfs.DefinitionsDir)
	if err != nil {
		return err
	}
	defer tree.Close()
	var diags diag.List
	names, err := a.inProject(files)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		names = append([]string{manifest.File}, tree.Definitions(&diags)...)
	}
	changed := 0
	var unread error
	for _, name := range names {
		differs, found, err := a.formatFile(tree, name, check)
		unread = errors.Join(unread, err)
		if diags = append(diags, found...); differs {
			changed++
		}
	}
	if err := a.Findings(diags); err != nil || unread != nil {
		return cmp.Or(unread, err)
	}
	if !check {
		_, err := fmt.Fprintf(a.Stdout, "%s changed\n", app.Count(changed, "file"))
		return err
	}
	if changed > 0 {
		fmt.Fprintln(a.Stderr, "run: opcast fmt")
		return app.ExitError{Code: app.ExitFindings}
	}
	_, err = fmt.Fprintf(a.Stdout, "%s, all formatted\n", app.Count(len(names), "file"))
	return err
}

// formatFile formats a file of the project, or says with check that it differs.
func (a commands) formatFile(tree *projectfs.Tree, name string, check bool) (differs bool, diags diag.List, err error) {
	data, err := tree.Read(name)
	if err != nil {
		return false, nil, fmt.Errorf("read %s: %w", name, err)
	}
	out, diags, err := formatted(name, data)
	if err != nil || len(diags) > 0 || string(out) == string(data) {
		return false, diags, err
	}
	if check {
		_, err = fmt.Fprintf(a.Stderr, "%s: not formatted\n", name)
		return true, nil, err
	}
	return true, nil, safefile.In(a.Dir, func(root *os.Root) error {
		_, err := safefile.Write(root, name, out)
		return err
	})
}

// inProject are the files' names in the project. A file elsewhere, or one that is no TOML, is a wrong use.
func (a commands) inProject(files []string) ([]string, error) {
	dir, err := filepath.Abs(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("find project: %w", err)
	}
	var names []string
	for _, file := range files {
		abs, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("find file: %w", err)
		}
		name, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(name) {
			return nil, app.Usage("%s lies outside of the project in %s", file, a.Dir)
		}
		if !strings.HasSuffix(name, ".toml") {
			return nil, app.Usage("%s is no TOML file", file)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names, nil
}
