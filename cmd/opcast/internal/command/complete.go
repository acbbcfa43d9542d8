package command

import (
	"slices"

	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/load"
	"github.com/spf13/cobra"
)

// completed gives the commands that take ops their completion: names of ops, and for explain the codes.
func (a *app) completed(commands []*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		switch name := cmd.Name(); name {
		case "expand", "explain", "run":
			cmd.ValidArgsFunction = a.completeOps(1, name == "explain")
		case "bench", "matrix", "mutants", "test":
			cmd.ValidArgsFunction = a.completeOps(1<<10, false)
		}
	}
	return commands
}

// completeOps completes the first arguments by what the project has. Mistakes in it are no matter here.
func (a *app) completeOps(most int, codes bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var words []cobra.Completion
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if p, _, err := load.Load(a.dir); err == nil {
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
