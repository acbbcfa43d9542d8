package command

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// completed gives the commands that take ops their completion: names of ops, and for explain the codes.
func completed(a *app.App, commands []*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		switch name := cmd.Name(); name {
		case "expand", "explain", "run":
			cmd.ValidArgsFunction = completeOps(a, 1, name == "explain")
		case "bench", "matrix", "mutants", "test":
			cmd.ValidArgsFunction = completeOps(a, 1<<10, false)
		}
	}
	return commands
}

// completeOps completes the first arguments by what the project has. Mistakes in it are no matter here.
func completeOps(a *app.App, most int, codes bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if p, _, err := load.Load(a.Dir); err == nil {
			for _, op := range p.Ops {
				if !slices.Contains(args, op.Name) {
					words = append(words, cobra.CompletionWithDesc(op.Name, op.Doc))
				}
			}
		}
		if codes {
			for _, e := range code.All() {
				words = append(words, cobra.CompletionWithDesc(e.Code, e.Title))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
