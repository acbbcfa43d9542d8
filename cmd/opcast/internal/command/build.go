package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

func newBuildCmd(a *app) *cobra.Command {
	var python string
	var o build.Options
	var jit bool
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Generate, compile and link the collection into a Python environment",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if jit {
				return a.pack(cmd.Context(), python)
			}
			return a.build(cmd.Context(), python, o)
		},
	}
	pythonFlag(cmd, &python)
	cmd.Flags().StringSliceVar(&o.Devices, "device", nil,
		"build for these devices: cpu,cuda (default: the manifest's that this machine has a compiler for); "+
			"emulated and emulated-rocm are CUDA and ROCm on an emulated device, which needs no GPU and no compiler for GPUs")
	cmd.Flags().BoolVar(&jit, "jit", false, "compile nothing: put the sources into the package, which builds itself on import")
	cmd.Flags().BoolVar(&o.Native, "native", false, "compile for the instruction set of this machine's CPU only, which halves the time")
	cmd.Flags().BoolVar(&o.Portable, "portable", false, "link libraries that run on older systems, from glibc 2.28 on")
	cmd.Flags().BoolVar(&o.Debug, "debug", false, "build without optimisation, with debug information")
	cmd.Flags().BoolVarP(&o.Verbose, "verbose", "v", false, "show the compiler's command lines")
	cmd.MarkFlagsMutuallyExclusive("jit", "debug")
	cmd.MarkFlagsMutuallyExclusive("jit", "native")
	cmd.MarkFlagsMutuallyExclusive("jit", "portable")
	cmd.MarkFlagsMutuallyExclusive("jit", "device")
	return cmd
}

// pack makes packages that can be installed anywhere and build themselves there.
func (a *app) pack(ctx context.Context, python string) error {
	project, err := a.load()
	if err != nil {
		return err
	}
	lock, err := build.LockProject(ctx, project.Dir, a.stderr)
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := a.generate(project); err != nil {
		return err
	}
	headers, err := a.headers(ctx, project, python)
	if err != nil {
		return err
	}
	n, err := build.Pack(project, backend.FS, headers)
	if err == nil {
		_, err = fmt.Fprintf(a.stdout, "put %s into backend/python, which builds itself on import\n", count(n, "file"))
	}
	return err
}

// headers finds the third-party headers of a project. Where there are none to find, no Python environment is needed.
func (a *app) headers(ctx context.Context, project *opdef.Project, python string) ([]build.Headers, error) {
	if len(project.Manifest.Headers) == 0 {
		return nil, nil
	}
	env, err := a.environment(ctx, python, project.Dir)
	if err != nil {
		return nil, err
	}
	headers, lacking, err := build.FindHeaders(ctx, project, env, backend.FS)
	if err != nil {
		return nil, err
	}
	return headers, a.findings(lacking)
}

// pythonFlag adds the flag with which every command takes its Python environment.
func pythonFlag(cmd *cobra.Command, python *string) {
	cmd.Flags().StringVar(python, "python", "", "interpreter or environment (default: the active one, else .venv)")
}

// environment finds the Python environment to work in.
func (a *app) environment(ctx context.Context, python, dir string) (*pyenv.Env, error) {
	env, err := pyenv.Find(ctx, pyenv.Query{Python: python, Dir: dir, Getenv: os.Getenv})
	return env, machineError(err)
}

// machineError gives errors about what the machine lacks their exit code.
func machineError(err error) error {
	if missing := (*pyenv.MissingError)(nil); errors.As(err, &missing) {
		return ExitError{Code: exitMachine, Err: err}
	}
	return err
}

// knownDevices refuses devices that the manifest does not name.
func knownDevices(chosen, manifest []string) error {
	for _, device := range chosen {
		if !slices.Contains(manifest, device) {
			err := fmt.Errorf("--device %s: the devices of opcast.toml are %s", device, strings.Join(manifest, ", "))
			return ExitError{Code: exitUsage, Err: err}
		}
	}
	if slices.Contains(chosen, "cuda") && slices.Contains(chosen, "rocm") {
		return usage("--device cuda,rocm: a library has kernels for the GPUs of one vendor")
	}
	return nil
}

// unemulated are devices with those of the manifest in the place of emulated ones.
func unemulated(devices []string) []string {
	out := slices.Clone(devices)
	for i, d := range out {
		out[i], _ = build.Unemulated(d)
	}
	return out
}

// build brings generated files and libraries up to date, and says so; o holds the choices of the command line.
func (a *app) build(ctx context.Context, python string, o build.Options) error {
	project, err := a.load()
	if err != nil {
		return err
	}
	if err := knownDevices(unemulated(o.Devices), project.Manifest.Devices); err != nil {
		return err
	}
	if o.Env, err = a.environment(ctx, python, project.Dir); err != nil {
		return err
	}
	result, err := a.compile(ctx, o)
	if err != nil {
		return err
	}
	if err := a.notes(result.Notes); err != nil {
		return err
	}
	contents := append([]string{count(len(project.Ops), "op")}, result.DeviceCode...)
	_, err = fmt.Fprintf(a.stdout, "built %s (%s, SHA-256 %s)\ntry: %s\n", result.Library,
		strings.Join(contents, ", "), result.SHA256, result.Import)
	return err
}

// compile generates and builds in the environment of o; nothing but mistakes and the compiler's words are printed. The
// definitions are read when it is this build's turn: they may have changed while it waited.
func (a *app) compile(ctx context.Context, o build.Options) (*build.Result, error) {
	lock, err := build.LockProject(ctx, a.dir, a.stderr)
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	return a.compileUnder(ctx, lock, o)
}

// compileUnder is compile for who holds the lock of the project's folder already.
func (a *app) compileUnder(ctx context.Context, lock *build.Lock, o build.Options) (*build.Result, error) {
	project, err := a.load()
	if err != nil {
		return nil, err
	}
	if _, err := a.generate(project); err != nil {
		return nil, err
	}
	o.Project, o.Runtime, o.Lock, o.Getenv, o.Log = project, backend.FS, lock, os.Getenv, a.stderr
	result, findings, err := build.Run(ctx, o)
	if err != nil {
		return nil, machineError(err)
	}
	return result, a.findings(findings)
}
