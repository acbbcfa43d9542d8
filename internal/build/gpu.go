package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
)

// withArchs is a project whose manifest names these architectures, if there are any.
func withArchs(p *opdef.Project, archs string) *opdef.Project {
	if archs == "" {
		return p
	}
	changed := *p
	changed.Manifest.CUDA.Arch = strings.Split(archs, ",")
	return &changed
}

// hipFlags are the compiler's options of all units for AMD's GPUs.
func (in inputs) hipFlags() []string {
	flags := append([]string{"-x", "hip", "-std=c++17", "-fuse-cuid=none"}, baseFlags...) // ids would follow from the folder
	if in.debug {
		flags = append(flags, "-O0", "-g")
	} else {
		flags = append(flags, "-O3", "-g0")
	}
	for _, arch := range in.hip.Archs {
		flags = append(flags, "--offload-arch="+arch)
	}
	flags = append(flags, "-DOPCAST_ROCM=1", fmt.Sprint("-DOPCAST_ROCM_WARP=", compiler.Wave(in.hip.Archs)))
	for _, f := range in.projectFlags() {
		flags = append(flags, f[0]+f[1])
	}
	return slices.Concat(flags, in.systemWords(), in.project.Manifest.ROCm.Flags)
}

// chooseGPU finds the compilers for GPUs. A library has kernels for those of one vendor, since a source that compiles for both has
// the same functions for each: CUDA where the manifest leaves the choice. A compiler may lack, with a note, unless it was asked for.
func chooseGPU(ctx context.Context, o Options) (cuda *compiler.CUDA, hip *compiler.HIP, notes []string, err error) {
	cuda, notes, err = chooseCUDA(ctx, o)
	switch {
	case err != nil || !slices.Contains(o.devices(), "rocm"):
		return cuda, nil, notes, err
	case cuda != nil || emulationIn(o.Devices) != nil:
		const note = "ROCm was left out: a library has kernels for the GPUs of one vendor\n  run: opcast build --device cpu,rocm"
		return cuda, nil, append(notes, note), nil
	}
	hip, err = compiler.FindHIP(ctx, o.Getenv, &o.Project.Manifest)
	var missing *pyenv.MissingError
	if len(o.Devices) == 0 && o.Getenv("HIPCC") == "" && errors.As(err, &missing) {
		return nil, nil, append(notes, "ROCm was left out: "+missing.Error()), nil
	}
	return nil, hip, notes, err
}

// chooseCUDA finds the CUDA compiler if the build is to use one. It may lack, with a note, unless it was asked for.
func chooseCUDA(ctx context.Context, o Options) (found *compiler.CUDA, notes []string, err error) {
	if !slices.Contains(o.devices(), "cuda") {
		return nil, nil, nil
	}
	found, err = compiler.FindCUDA(ctx, o.Env, o.Getenv, o.Project.Manifest.CUDA.Toolkit)
	var missing *pyenv.MissingError
	if len(o.Devices) == 0 && o.Getenv("NVCC") == "" && errors.As(err, &missing) {
		return nil, []string{"CUDA was left out: " + missing.Error()}, nil
	}
	return found, nil, err
}
