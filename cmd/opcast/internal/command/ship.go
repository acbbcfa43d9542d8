package command

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/safefile"
	"github.com/opcast/opcast/internal/wheel"
)

// shipFlags are the choices that the commands share which build a collection for others.
type shipFlags struct {
	python, output string
	devices        []string
	portable, json bool
}

// add declares them: where the results go, and what --json lists.
func (f *shipFlags) add(cmd *cobra.Command, output, list string) {
	pythonFlag(cmd, &f.python)
	cmd.Flags().StringVarP(&f.output, "output", "o", "", output)
	cmd.Flags().StringSliceVar(&f.devices, "device", nil, "build for these devices, as opcast build does")
	cmd.Flags().BoolVar(&f.portable, "portable", true, "link libraries that run on older systems, from glibc 2.28 on")
	cmd.Flags().BoolVar(&f.json, "json", false, list)
}

// ship finds the environment to build in, and keeps other processes from the libraries until the lock is released.
func (a *app) ship(ctx context.Context, f *shipFlags, dir string) (o build.Options, lock *build.Lock, err error) {
	env, err := a.environment(ctx, f.python, dir)
	if err != nil {
		return o, nil, err
	}
	lock, err = build.LockProject(ctx, a.dir, a.stderr)
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
func (a *app) announce(ctx context.Context, o build.Options, m *manifest.Manifest) {
	if _, err := build.FindCUDA(ctx, o.Env, os.Getenv, m.CUDA.Toolkit); err == nil {
		fmt.Fprintf(a.stderr, "compiling for CUDA (%s): --device cpu leaves it out, and $%s names other architectures\n",
			strings.Join(build.Archs(m, os.Getenv), ", "), build.ArchVariable)
	}
}
