package judge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/generated"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
)

func noBuildFlag(cmd *cobra.Command, noBuild *bool) {
	cmd.Flags().BoolVar(noBuild, "no-build", false,
		"do not build first: take the library as it is, and refuse one that was made from other sources")
}

// current brings the library up to date before it is judged: what yesterday's library does proves nothing. Where nothing can
// be built, or shall not be, the library must have been made from the sources as they are.
func (a commands) current(ctx context.Context, p *opdef.Project, env *pyenv.Env, noBuild bool, device string) error {
	devices, why := app.DevicesFor(p, device)
	if why != nil {
		return why
	}
	if !noBuild {
		result, err := a.Compile(ctx, build.Options{Env: env, Devices: devices})
		if err == nil {
			return a.Notes(result.Notes)
		}
		if why = err; !cannotBuild(err) {
			return err
		}
	}
	err := a.verify(p)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %s", conformance.ErrNotBuilt, p.LibraryPath())
	}
	if err != nil {
		remedy := "opcast build"
		if p.Installed != nil {
			remedy = wheelRemedy
		}
		return app.ExitError{Code: app.ExitMachine, Err: errors.Join(why, fmt.Errorf("%w\n  run: %s", err, remedy))}
	}
	if why != nil {
		return a.Notes([]string{fmt.Sprintf("nothing was built, and the library is up to date: %v", why)})
	}
	return nil
}

// checkSanitizer refuses flags that --sanitize does not go with: it judges a library that is built for it, on the CPU, through callers
// without a framework.
func (f *testFlags) checkSanitizer() error {
	if f.sanitize == "" {
		return nil
	}
	if err := oneOf("sanitizer", f.sanitize, build.SanitizerKinds()...); err != nil {
		return err
	}
	switch {
	case f.installed || f.noBuild || f.opdefs != "" || f.Library != "" || len(f.callables) > 0:
		return app.Usage("--sanitize builds a library of the project, --installed, --no-build, --opdefs, --library and --callable test something else")
	case f.Device != "cpu":
		return app.Usage("--sanitize %s: expected --device cpu, got %s", f.sanitize, f.Device)
	}
	callers := sanitizedCallers(f.sanitize)
	for _, name := range f.Adaptors {
		if !slices.Contains(callers, name) {
			return app.Usage("--sanitize %s: expected --adaptor %s, got %s", f.sanitize, strings.Join(callers, " or "), name)
		}
	}
	return nil
}

// sanitizedCallers are those through which a sanitizer of a kind can watch.
func sanitizedCallers(kind string) []string {
	if kind == build.SanitizerOfThreads {
		return []string{conformance.BackendName}
	}
	return []string{conformance.BackendName, conformance.NativeName}
}

// sanitized has a run judge a library with a kind of sanitizer.
func (a commands) sanitized(ctx context.Context, o *conformance.Options, env *pyenv.Env, kind string) error {
	s, err := build.FindSanitizer(ctx, kind, os.Getenv)
	if err != nil {
		return app.MachineError(err)
	}
	o.Project.Installed, o.Sanitizer, o.Under = s.Installed(o.Project), s.Kind, s.Under(o.Project, os.Getenv)
	if len(o.Adaptors) == 0 {
		o.Adaptors = sanitizedCallers(s.Kind)
	}
	o.Build = func(ctx context.Context) error {
		_, err := a.Compile(ctx, build.Options{Env: env, Devices: []string{"cpu"}, Sanitizer: s})
		return err
	}
	return nil
}

// verify looks whether the library was made from the sources, and these from the definitions.
func (a commands) verify(p *opdef.Project) error {
	if err := build.Verify(p, backend.FS); err != nil {
		return err
	}
	stale, err := generated.Stale(p)
	if err == nil && len(stale) > 0 {
		err = fmt.Errorf("%s was generated from other definitions than those that are here", stale[0])
	}
	return err
}

// cannotBuild says whether a build failed for want of a tool, or because nothing can be written.
func cannotBuild(err error) bool {
	missing := (*pyenv.MissingError)(nil)
	return errors.As(err, &missing) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// nativeCaller is the hidden command with which the suite starts this program to call a library from Go.
const nativeCaller = "native-caller"

func newNativeCallerCmd(a commands) *cobra.Command {
	return &cobra.Command{
		Use: nativeCaller + " CONFIG", Short: "Serve calls of a library for the conformance suite", Hidden: true,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return conformance.ServeNative(args[0], a.Stdin, diag.Raw(a.Stdout))
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
