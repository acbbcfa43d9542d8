package author

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/framework"
)

//go:embed templates/workflow.yml.tmpl
var workflowTemplate string

// workflowFile is where GitHub finds it; the name leaves a project's own ci.yml alone.
const workflowFile = ".github/workflows/opcast.yml"

const ciLong = `Write .github/workflows/opcast.yml, which checks, builds and tests the collection for every push, with the oldest and the newest
Python for which all frameworks have packages, and then writes its wheels and audits them. The file is yours to change: one that
exists is left alone.`

func newCICmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use:   "ci github",
		Short: "Write a workflow of GitHub Actions: check, build, test, wheels",
		Long:  ciLong,
		Args:  cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), ValidArgs: []string{"github"},
		RunE: func(*cobra.Command, []string) error {
			p, err := a.Load()
			if err != nil {
				return err
			}
			return a.create(p.Dir, map[string]string{workflowFile: workflowTemplate}, struct{ Install string }{requirements(p.Manifest.Adaptors)})
		},
	}
}

// requirements are the words behind `pip install` that bring all that building and testing these adaptors takes.
func requirements(adaptors []string) string {
	list := pyenv.Required()
	for _, fw := range framework.All() {
		if slices.Contains(adaptors, fw.Name) {
			list = slices.Concat(list, fw.Requires, fw.Suite)
		}
	}
	words := pyenv.Pinned(list...)
	for i, word := range words {
		if strings.ContainsAny(word, "<>") {
			words[i] = "'" + word + "'"
		}
	}
	return strings.Join(words, " ")
}
