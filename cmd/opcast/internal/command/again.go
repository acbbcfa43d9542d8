package command

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/opcast/opcast/conformance/native"
)

// nativeCaller is the hidden command with which the suite starts this program to call a library from Go.
const nativeCaller = "native-caller"

// errNoSelf means that a command has to start this program again and does not know its path.
var errNoSelf = errors.New("this program does not know its own path, so it cannot start itself again")

func newNativeCallerCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: nativeCaller + " CONFIG", Short: "Serve calls of a library for the conformance suite", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return native.Serve(args[0], a.stdin, a.stdout)
		},
	}
}

// nativeCommand starts this program as the caller in Go; it is nil where the program cannot be started.
func (a *app) nativeCommand() []string {
	if a.self == "" {
		return nil
	}
	return []string{a.self, nativeCaller}
}

// repeated is the command line that runs a command again in one process. More flags can be appended.
func (a *app) repeated(cmd *cobra.Command, args []string) ([]string, error) {
	if a.self == "" {
		return nil, errNoSelf
	}
	words := []string{a.self, "-C", a.dir, cmd.Name()}
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
