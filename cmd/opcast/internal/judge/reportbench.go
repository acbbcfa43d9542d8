package judge

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/results/bench"
)

const reportBenchLong = `Print the table of results of opcast bench, such as those that conformance/gpu.sh brings from a machine with a GPU.

Results are put together: of rows about the same call, the last one counts. --json writes the whole into a file, --markdown puts the
table into a page, between "<!-- bench: written by opcast bench --markdown -->" and "<!-- bench: end -->".`

func newReportBenchCmd(a commands) *cobra.Command {
	var flags benchFlags
	cmd := &cobra.Command{
		Use:   "bench RESULT...",
		Short: "Print what opcast bench has measured, on this machine or another one",
		Long:  reportBenchLong,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, files []string) error { return a.reportBench(files, &flags) },
	}
	cmd.Flags().StringVar(&flags.json, "json", "", "write the results, put together, into this file")
	markdownFlag(cmd, &flags.markdown, "put the table into this page")
	return cmd
}

// readResults reads files of opcast bench and puts them together.
func readResults(files []string) (*bench.Result, error) {
	var results []*bench.Result
	for _, file := range files {
		one, err := bench.Read(file)
		if err != nil {
			return nil, app.ExitError{Code: app.ExitUsage, Err: err}
		}
		results = append(results, one)
	}
	return bench.Join(results), nil
}

// reportBench prints the rows of results.
func (a commands) reportBench(files []string, flags *benchFlags) error {
	result, err := readResults(files)
	if err != nil {
		return err
	}
	if err := result.WriteTable(a.Stdout); err != nil {
		return fmt.Errorf("print results: %w", err)
	}
	return flags.write(result, nil)
}
