package judge

import (
	"github.com/spf13/cobra"

	"github.com/opcast/opcast/conformance"
)

// nativeCaller is the hidden command with which the suite starts this program to call a library from Go.
const nativeCaller = "native-caller"

func newNativeCallerCmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use: nativeCaller + " CONFIG", Short: "Serve calls of a library for the conformance suite", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return conformance.ServeNative(args[0], a.Stdin, a.Stdout)
		},
	}
}

// nativeCommand starts this program as the caller in Go; it is nil where the program cannot be started.
func (a commands) nativeCommand() []string {
	if a.Self == "" {
		return nil
	}
	return []string{a.Self, nativeCaller}
}
