package judge

import (
	"fmt"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/results/bench"
)

// judge puts results together and holds them against budgets. The exit code says whether one is missed; one that was not
// measured is not missed.
func (a commands) judge(files []string, flags *benchFlags) error {
	if len(files) == 0 {
		return app.Usage("--budgets: expected files with results of opcast bench")
	}
	budgets, err := bench.ReadBudgets(flags.budgets)
	if err != nil {
		return app.ExitError{Code: app.ExitUsage, Err: fmt.Errorf("--budgets: %w", err)}
	}
	old, err := flags.older()
	if err != nil {
		return err
	}
	result, err := readResults(files)
	if err != nil {
		return err
	}
	if err := reportFolder(flags.report); err != nil {
		return err
	}
	return a.judged(result, old, budgets, flags)
}

// judged prints and writes what has become of the budgets.
func (a commands) judged(result, old *bench.Result, budgets []bench.Budget, flags *benchFlags) error {
	told := bench.Told{Judged: result.Judge(budgets)}
	if old != nil {
		told.Compared = result.Since(old)
	}
	folder := flags.report
	if folder == "" {
		folder = "build/bench"
	}
	if err := result.WriteFiles(folder, told); err != nil {
		return err
	}
	if err := flags.write(result, told.Judged); err != nil {
		return err
	}
	missed := 0
	for i := range told.Judged {
		if told.Judged[i].Misses() {
			missed++
		}
	}
	if told.Compared != nil {
		missed += len(told.Compared.Lines())
		if err := a.printComparison(told.Compared); err != nil {
			return err
		}
	}
	if err := bench.WriteBudgets(a.Stdout, told.Judged); err != nil {
		return err
	}
	if missed > 0 {
		return app.ExitError{Code: app.ExitFindings}
	}
	return nil
}
