package app

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// PythonFlag adds the flag with which every command takes its Python environment.
func PythonFlag(cmd *cobra.Command, python *string) {
	cmd.Flags().StringVar(python, "python", "", "interpreter or environment (default: the active one, else .venv)")
}

// Environment finds the Python environment to work in.
func (a *App) Environment(ctx context.Context, python, dir string) (*pyenv.Env, error) {
	env, err := pyenv.Find(ctx, pyenv.Query{Python: python, Dir: dir, Getenv: os.Getenv})
	return env, MachineError(err)
}

// DevicesFor are the devices for which the library is built that is called on one; none stands for the manifest's, of whose GPUs
// those of CUDA come first.
func DevicesFor(p *opdef.Project, device string) []string {
	switch _, emulated := build.Unemulated(device); {
	case emulated:
		return []string{device}
	case device == "rocm":
		return slices.DeleteFunc(slices.Clone(p.Manifest.Devices), func(d string) bool { return d == "cuda" })
	}
	return nil
}
