package ship

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/ship/wheel"
	"github.com/opcast/opcast/internal/system/safefile"
)

// shipFlags are the choices that the commands share which build a collection for others.
type shipFlags struct {
	python, output string
	devices        []string
	portable, json bool
}

// add declares them: where the results go, and what --json lists.
func (f *shipFlags) add(cmd *cobra.Command, output, list string) {
	app.PythonFlag(cmd, &f.python)
	cmd.Flags().StringVarP(&f.output, "output", "o", "", output)
	cmd.Flags().StringSliceVar(&f.devices, "device", nil, "build for these devices, as opcast build does")
	cmd.Flags().BoolVar(&f.portable, "portable", true, "link libraries that run on older systems, from glibc 2.28 on")
	cmd.Flags().BoolVar(&f.json, "json", false, list)
}

// ship finds the environment to build in, and keeps other processes from the libraries until the lock is released.
func (a commands) ship(ctx context.Context, f *shipFlags, dir string) (o build.Options, lock *build.Lock, err error) {
	env, err := a.Environment(ctx, f.python, dir)
	if err != nil {
		return o, nil, err
	}
	lock, err = build.LockProject(ctx, a.Dir, a.Stderr)
	return build.Options{Env: env, Devices: f.devices, Unlinked: true, Portable: f.portable}, lock, err
}

// packages are those of a project whose libraries have been built. They have no file from outside of its folder, which is to be
// closed.
func packages(project *opdef.Project) (wheel.Collection, *os.Root, error) {
	root, err := os.OpenRoot(project.Dir)
	if err != nil {
		return wheel.Collection{}, nil, fmt.Errorf("open project: %w", err)
	}
	return wheel.Collection{Project: project, Files: safefile.FS(root), Runtime: opcast.License}, root, nil
}

// announce says that a build for all devices begins, if there is a compiler for GPUs: it takes minutes.
func (a commands) announce(ctx context.Context, o build.Options, m *manifest.Manifest) {
	if _, err := compiler.FindCUDA(ctx, o.Env, os.Getenv, m.CUDA.Toolkit); err == nil {
		fmt.Fprintf(a.Stderr, "compiling for CUDA (%s): --device cpu leaves it out, and $%s names other architectures\n",
			strings.Join(compiler.Archs(m, os.Getenv), ", "), compiler.ArchVariable)
	}
}

// missingLibrary says how to get what a library needs that could not be built, if that is the error.
func missingLibrary(err error, env *pyenv.Env) error {
	if missing := (*wheel.MissingLibraryError)(nil); errors.As(err, &missing) {
		return app.MachineError(&pyenv.MissingError{Text: err.Error(), Command: env.InstallCommand(missing.Needs...)})
	}
	return err
}

// unlicensed says whether the project has no file with its license. Packages with files have at least that of opcast.
func unlicensed(all []*wheel.Distribution) bool {
	return slices.ContainsFunc(all, func(d *wheel.Distribution) bool { return len(d.Licenses) == 0 })
}

// stages are the builds that give the library of the CPU alone, if that is among the devices, and then that with CUDA, if it is,
// too. There is one for ROCm if that is asked for.
func stages(o build.Options, devices []string) []build.Options {
	if len(o.Devices) > 0 {
		devices = o.Devices
	}
	o.Except = []string{"rocm"}
	if slices.Contains(o.Devices, "rocm") {
		o.Except = nil
	}
	if !slices.Contains(devices, "cpu") || !slices.Contains(devices, "cuda") {
		return []build.Options{o}
	}
	first := o
	first.Devices = []string{"cpu"}
	return []build.Options{first, o}
}
