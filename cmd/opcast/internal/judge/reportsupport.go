package judge

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/results/report"
)

const supportLong = `Print a table of what ran where: a line for each device, hardware and caller of the reports.

Each DIR has a report.json, as --report DIR leaves it, and as conformance/gpu.sh brings it from a machine with a GPU. With
--markdown, the lines go into the table of a page, between "<!-- support: written by opcast report support -->" and
"<!-- support: end -->": those of the same device, hardware and caller are replaced, and the others stay.`

func newReportSupportCmd(a commands) *cobra.Command {
	var page string
	cmd := &cobra.Command{
		Use:   "support DIR...",
		Short: "Tell what ran on which hardware",
		Long:  supportLong,
		Args:  cobra.MinimumNArgs(1),
		RunE:  func(_ *cobra.Command, dirs []string) error { return a.reportSupport(dirs, page) },
	}
	markdownFlag(cmd, &page, "put the lines into the table of this page")
	return cmd
}

// reportSupport prints what the reports in folders tell, and puts it into a page.
func (a commands) reportSupport(dirs []string, page string) error {
	reports, err := readReports(dirs)
	if err != nil {
		return err
	}
	rows := report.Support(reports)
	if _, err := fmt.Fprint(a.Stdout, report.SupportTable(rows)); err != nil {
		return err
	}
	if page == "" {
		return nil
	}
	err = report.WriteSupport(page, rows)
	if errors.Is(err, report.ErrNoPlace) {
		return app.ExitError{Code: app.ExitUsage, Err: err}
	}
	return err
}
