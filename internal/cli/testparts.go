package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/opcast/opcast/conformance"
)

// nativeCaller is the hidden command under which the suite starts this program to call a library from Go.
const nativeCaller = "native-caller"

// Self is the command line that starts this program as opcast; nil where it cannot be started so. A program that has the
// command line inside, such as one of tests, sets it.
var Self = self()

func self() []string {
	path, err := os.Executable()
	// A program of tests that has this command line inside has no such command, and would run its tests instead.
	if err != nil || strings.HasSuffix(path, ".test") {
		return nil
	}
	return []string{path}
}

// nativeCommand starts this program as the caller in Go.
func nativeCommand() []string {
	if Self == nil {
		return nil
	}
	return append(append([]string{}, Self...), nativeCaller)
}

func newNativeCallerCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use: nativeCaller + " CONFIG", Short: "Serve calls of a library for the conformance suite", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return conformance.ServeNative(args[0], a.stdin, a.stdout)
		},
	}
}

// repeated is the command line of a command again; nil where this program cannot be started. Flags can be appended.
func (a *app) repeated(cmd *cobra.Command, args []string) []string {
	if Self == nil {
		return nil
	}
	words := append(append([]string{}, Self...), "-C", a.dir, cmd.Name())
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
	return append(words, args...)
}

// functions reads "ADAPTOR:OP=MODULE:FUNCTION"; the op may be left out where one op is named.
func functions(texts, ops []string) ([]conformance.Callable, error) {
	var out []conformance.Callable
	for _, text := range texts {
		adaptor, rest, ok := strings.Cut(text, ":")
		op, target, named := strings.Cut(rest, "=")
		if !named {
			target = rest
			if len(ops) != 1 {
				return nil, fmt.Errorf("%q names no op: expected ADAPTOR:OP=MODULE:FUNCTION", text)
			}
			op = ops[0]
		}
		if !strings.Contains(target, ":") {
			if at := strings.LastIndex(target, "."); at > 0 {
				target = target[:at] + ":" + target[at+1:]
			}
		}
		if !ok || adaptor == "" || op == "" || !strings.Contains(target, ":") {
			return nil, fmt.Errorf("%q names no function: expected ADAPTOR:OP=MODULE:FUNCTION", text)
		}
		out = append(out, conformance.Callable{Adaptor: adaptor, Op: op, Target: target})
	}
	return out, nil
}

// terminal reports whether a line that is written can be written again.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb" && os.Getenv("CI") == ""
}
