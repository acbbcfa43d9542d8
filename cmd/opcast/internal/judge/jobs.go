package judge

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// errNoSelf means that a command has to start this program again and does not know its path.
var errNoSelf = errors.New("this program does not know its own path, so it cannot start itself again")

// repeated is the command line that runs a command again in one process. More flags can be appended.
func (a commands) repeated(cmd *cobra.Command, args []string) ([]string, error) {
	if a.Self == "" {
		return nil, errNoSelf
	}
	words := []string{a.Self, "-C", a.Dir, cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "jobs" || f.Name == "dir" {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			words = append(words, "--"+f.Name+"="+v)
		}
	})
	return append(words, args...), nil
}
