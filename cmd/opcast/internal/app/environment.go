package app

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
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

// DevicesFor are the devices for which the library is built that is called on one; none stands for all of the manifest. A library
// has kernels for the GPUs of one vendor.
func DevicesFor(p *opdef.Project, device string) ([]string, error) {
	kind, emulated := build.Unemulated(device)
	if kind == "cpu" {
		return nil, nil // where there are only Python's references, too
	}
	all := p.Manifest.Devices
	if !slices.Contains(all, kind) {
		return nil, unknownDevice(device, all)
	}
	if emulated {
		return []string{device}, nil
	}
	other := map[string]string{"cuda": "rocm", "rocm": "cuda"}[kind]
	if !slices.Contains(all, other) {
		return nil, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(d string) bool { return d == other }), nil
}

func unknownDevice(device string, known []string) error {
	return Usage("--device %s: the devices of opcast.toml are %s", device, strings.Join(known, ", "))
}

// KnownDevices refuses devices that the manifest does not name.
func KnownDevices(chosen, manifest []string) error {
	for _, device := range chosen {
		if !slices.Contains(manifest, device) {
			return unknownDevice(device, manifest)
		}
	}
	if slices.Contains(chosen, "cuda") && slices.Contains(chosen, "rocm") {
		return Usage("--device %s: a library has kernels for the GPUs of one vendor", strings.Join(chosen, ","))
	}
	return nil
}
