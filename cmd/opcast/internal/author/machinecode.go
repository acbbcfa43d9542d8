package author

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/sass"
	"github.com/opcast/opcast/internal/language/opdef"
)

// machineCode is what nvcc has made of a collection's kernels.
type machineCode struct {
	Project *opdef.Project
	Env     *pyenv.Env
	Objects *build.ObjectFiles
	Tools   sass.Tools
	// Cubins are those of all architectures; Remove deletes their files.
	Cubins []sass.Cubin
	Remove func() error
}

// machineCode builds the collection for CUDA, unless that was done before, and takes the machine code out of the objects.
func (a commands) machineCode(ctx context.Context, python string, noBuild bool) (*machineCode, error) {
	p, err := a.Load()
	if err != nil {
		return nil, err
	}
	m := &machineCode{Project: p}
	if m.Env, err = a.Environment(ctx, python, p.Dir); err != nil {
		return nil, err
	}
	if !slices.Contains(p.Manifest.Devices, "cuda") {
		return nil, app.Usage("opcast.toml does not name cuda among its devices")
	}
	devices := slices.DeleteFunc(slices.Clone(p.Manifest.Devices), func(d string) bool { return d == "rocm" }) // all must be there
	if !noBuild {
		if _, err := a.Compile(ctx, build.Options{Env: m.Env, Devices: devices}); err != nil {
			return nil, err
		}
	}
	m.Objects, err = build.FindObjectFiles(ctx, build.Options{
		Project: p, Env: m.Env, Devices: devices, Runtime: backend.FS, Getenv: os.Getenv, Log: a.Stderr,
	})
	if err != nil {
		return nil, app.MachineError(err)
	}
	if m.Tools, err = sass.FindTools(m.Env, m.Objects.NVCC); err != nil {
		return nil, app.MachineError(err)
	}
	var list []sass.Object
	for _, source := range m.Objects.Sources {
		list = append(list, sass.Object{Source: source, Path: m.Objects.Kernels[source]})
	}
	m.Cubins, m.Remove, err = m.Tools.Extract(ctx, list)
	return m, err
}

// only keeps the cubins of one architecture: of that which is asked for, or the newest that a device can run.
func (m *machineCode) only(arch string, most int) error {
	var archs []string
	for _, c := range m.Cubins {
		if number := archNumber(c.Arch); !slices.Contains(archs, c.Arch) && number <= most {
			archs = append(archs, c.Arch)
		}
	}
	if len(archs) == 0 && most == newest {
		return errors.New("the library has no machine code for CUDA")
	}
	if len(archs) == 0 {
		return fmt.Errorf("the library has no machine code for sm_%d or older devices", most)
	}
	slices.SortFunc(archs, func(a, b string) int { return archNumber(a) - archNumber(b) })
	if arch == "" {
		arch = archs[len(archs)-1]
	}
	if !slices.Contains(archs, arch) {
		return app.Usage("--arch: expected one of %s, got %q", strings.Join(archs, ", "), arch)
	}
	m.Cubins = slices.DeleteFunc(m.Cubins, func(c sass.Cubin) bool { return c.Arch != arch })
	return nil
}

// archNumber is 90 for sm_90 and sm_90a.
func archNumber(arch string) int {
	n, _ := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af")) // of a cubin's name
	return n
}
