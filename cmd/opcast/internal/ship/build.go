package ship

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/language/opdef"
)

func newBuildCmd(a commands) *cobra.Command {
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
	app.PythonFlag(cmd, &python)
	cmd.Flags().StringSliceVar(&o.Devices, "device", nil,
		"build for these devices: cpu,cuda or cpu,rocm (default: the manifest's that this machine has a compiler for); "+
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
func (a commands) pack(ctx context.Context, python string) error {
	project, err := a.Load()
	if err != nil {
		return err
	}
	lock, err := build.LockProject(ctx, project.Dir, a.Stderr)
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := a.Generate(project); err != nil {
		return err
	}
	headers, err := a.headers(ctx, project, python)
	if err != nil {
		return err
	}
	n, err := build.Pack(project, backend.FS, headers)
	if err == nil {
		_, err = fmt.Fprintf(a.Stdout, "put %s into backend/python, which builds itself on import\n", app.Count(n, "file"))
	}
	return err
}

// headers finds the third-party headers of a project. Where there are none to find, no Python environment is needed.
func (a commands) headers(ctx context.Context, project *opdef.Project, python string) ([]build.Headers, error) {
	if len(project.Manifest.Headers) == 0 {
		return nil, nil
	}
	env, err := a.Environment(ctx, python, project.Dir)
	if err != nil {
		return nil, err
	}
	headers, lacking, err := build.FindHeaders(ctx, project, env, backend.FS)
	if err != nil {
		return nil, err
	}
	return headers, a.Findings(lacking)
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
func (a commands) build(ctx context.Context, python string, o build.Options) error {
	project, err := a.Load()
	if err != nil {
		return err
	}
	if err := app.KnownDevices(unemulated(o.Devices), project.Manifest.Devices); err != nil {
		return err
	}
	if o.Env, err = a.Environment(ctx, python, project.Dir); err != nil {
		return err
	}
	result, err := a.Compile(ctx, o)
	if err != nil {
		return err
	}
	if err := a.Notes(result.Notes); err != nil {
		return err
	}
	contents := append([]string{app.Count(len(project.Ops), "op")}, result.DeviceCode...)
	_, err = fmt.Fprintf(a.Stdout, "built %s (%s, SHA-256 %s)\ntry: %s\n", result.Library,
		strings.Join(contents, ", "), result.SHA256, result.Import)
	return err
}
