package command

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/opdef/names"
	"github.com/opcast/opcast/internal/safefile"
	"github.com/spf13/cobra"
)

//go:embed templates/manifest.toml.tmpl
var manifestTemplate string

//go:embed templates/gitignore.tmpl
var gitignoreTemplate string

//go:embed templates/README.md.tmpl
var readmeTemplate string

func newInitCmd(a *app) *cobra.Command {
	name := ""
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin a collection of ops",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := a.dir
			if len(args) == 1 && filepath.IsAbs(args[0]) {
				dir = args[0]
			} else if len(args) == 1 {
				dir = filepath.Join(dir, args[0])
			}
			return a.initProject(dir, name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the collection and its packages (default: the folder's name)")
	return cmd
}

func (a *app) initProject(dir, name string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find folder: %w", err)
	}
	if name == "" {
		name = collectionName(filepath.Base(abs))
	}
	if err := names.CheckCollection(name); err != nil {
		return ExitError{Code: exitUsage, Err: fmt.Errorf("%w; choose one with --name", err)}
	}
	files := map[string]string{
		manifest.File: manifestTemplate,
		".gitignore":  gitignoreTemplate,
		"README.md":   readmeTemplate,
	}
	if err := a.create(abs, files, struct{ Name string }{name}); err != nil {
		return err
	}
	err = safefile.In(abs, func(root *os.Root) error {
		return errors.Join(safefile.MkdirAll(root, "opdefs"), safefile.MkdirAll(root, "csrc/cpu"))
	})
	if err != nil {
		return err
	}
	next := "opcast new OP"
	if dir != "." {
		next = "cd " + dir + " && " + next
	}
	_, err = fmt.Fprintln(a.stdout, "next:", next)
	return err
}

var notName = regexp.MustCompile(`[^a-z0-9]+`)

// collectionName turns a folder's name into a collection's as far as that goes.
func collectionName(folder string) string {
	return strings.Trim(notName.ReplaceAllString(strings.ToLower(folder), "_"), "_")
}
