package author

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

func newExpandCmd(a commands) *cobra.Command {
	asJSON, fw := false, ""
	cmd := &cobra.Command{
		Use:   "expand OP",
		Short: "Print everything that is generated for an op",
		Long: `Print everything that is generated for an op, file by file. Nothing is written, and the files need not be up to date.

Files that hold something of every op are named, not printed.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.expand(args[0], fw, asJSON)
		},
	}
	cmd.Flags().StringVar(&fw, "framework", "", "only what is for this framework, for example torch")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// expansion is what is generated for an op, in JSON.
type expansion struct {
	Op    string          `json:"op"`
	Files []generatedFile `json:"files"`
	// Shared are files that mention the op and others.
	Shared []string `json:"shared"`
}

type generatedFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (a commands) expand(name, fw string, asJSON bool) error {
	p, op, err := a.LoadOp(name)
	if err != nil {
		return err
	}
	prefix := ""
	if fw != "" {
		if !slices.Contains(p.Manifest.Adaptors, fw) {
			return app.Usage("the project has no adaptor %q (it has %s)", fw, diag.OneOf(p.Manifest.Adaptors))
		}
		prefix = "adaptors/" + fw + "/"
	}
	files, err := gen.Generate(p)
	if err != nil {
		return err
	}
	mention := regexp.MustCompile(`\b(` + op.Name + `|` + names.Pascal(op.Name) + `)\b`)
	e := expansion{op.Name, []generatedFile{}, []string{}}
	for _, f := range files {
		own, _, _ := strings.Cut(path.Base(f.Path), ".")
		switch {
		case !strings.HasPrefix(f.Path, prefix):
		case own == op.Name:
			e.Files = append(e.Files, generatedFile{f.Path, string(f.Content)})
		case mention.Match(f.Content) && bytes.Contains(f.Content[:min(len(f.Content), 400)], []byte(gen.Marker)):
			e.Shared = append(e.Shared, f.Path)
		}
	}
	if asJSON {
		return a.PrintJSON(e)
	}
	return a.printExpansion(e)
}

func (a commands) printExpansion(e expansion) error {
	for _, f := range e.Files {
		if _, err := fmt.Fprintf(a.Stdout, "==> %s <==\n%s\n", f.Name, strings.TrimRight(f.Text, "\n")+"\n"); err != nil {
			return err
		}
	}
	for i, name := range e.Shared {
		if i == 0 {
			fmt.Fprintf(a.Stdout, "==> files that have something of %s, too <==\n", e.Op)
		}
		if _, err := fmt.Fprintln(a.Stdout, name); err != nil {
			return err
		}
	}
	return nil
}
