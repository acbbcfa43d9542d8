package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// unplanted are flags that have no meaning with planted faults: they are put into a copy of the project, and the checks that
// should notice them run on the host until one does.
var unplanted = []string{
	"against", "callable", "device", "jobs", "known", "last-failed", "library", "only", "opdefs", "profile", "random", "random-total",
	"report", "shard",
}

// planted refuses them.
func planted(cmd *cobra.Command) error {
	for _, name := range unplanted {
		if cmd.Flags().Changed("mutants") && cmd.Flags().Changed(name) {
			return fmt.Errorf("--mutants and --%s do not go together", name)
		}
	}
	return nil
}

// values refuses numbers and folders that cannot be meant.
func (f *testFlags) values() error {
	for _, number := range []struct {
		name         string
		value, least int
	}{{"jobs", f.jobs, 1}, {"random", f.random, 0}, {"random-total", f.randomTotal, 0}} {
		if number.value < number.least {
			return fmt.Errorf("--%s %d: expected at least %d", number.name, number.value, number.least)
		}
	}
	if f.report == "" {
		return nil
	}
	info, err := os.Stat(f.report)
	if err == nil && !info.IsDir() || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("--report %s: expected a folder, it is a file", f.report)
	}
	return nil
}
