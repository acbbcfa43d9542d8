package sass

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// Tools are NVIDIA's programs that read machine code.
type Tools struct{ Cuobjdump, Nvdisasm string }

// packages are the wheels that have them.
var packages = []string{"nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"}

// FindTools looks for the programs on PATH, beside the CUDA compiler, and in the environment, where Triton carries them, too.
func FindTools(env *pyenv.Env, nvcc string) (Tools, error) {
	folders := []string{}
	if real, err := filepath.EvalSymlinks(nvcc); err == nil && nvcc != "" {
		bin := filepath.Dir(real)
		folders = append(folders, bin, filepath.Join(bin, "../../../triton/backends/nvidia/bin")) // among wheels
	}
	prefix := filepath.Dir(filepath.Dir(env.Python))
	for _, pattern := range []string{"nvidia/cu*/bin", "nvidia/cu*/*/bin", "triton/backends/nvidia/bin"} {
		found, _ := filepath.Glob(filepath.Join(prefix, "lib", "python*", "site-packages", pattern)) // the pattern is valid
		folders = append(folders, found...)
	}
	find := func(name string) string {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		for _, folder := range folders {
			if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
				return path
			}
		}
		return ""
	}
	t := Tools{find("cuobjdump"), find("nvdisasm")}
	if t.Cuobjdump == "" || t.Nvdisasm == "" {
		return t, &pyenv.MissingError{
			Text:    "no cuobjdump and nvdisasm: they are not on PATH, not beside nvcc, and " + env.Python + " lacks them",
			Command: env.InstallCommand(packages...),
		}
	}
	return t, nil
}

// Cubin is the machine code of one file for one architecture.
type Cubin struct {
	// Source is the file that was compiled, Arch as "sm_90"; Kernels are those in it.
	Source, Arch string
	Kernels      []Kernel
	path         string
}

// Has says whether a kernel is in it.
func (c *Cubin) Has(name string) bool {
	return slices.ContainsFunc(c.Kernels, func(k Kernel) bool { return k.Name == name })
}

// Object is a compiled file, and what it was compiled from.
type Object struct{ Source, Path string }

var cubinName = regexp.MustCompile(`\.(sm_\w+)\.cubin$`)

// Extract takes the cubins out of objects. They lie in a temporary folder until the function that it returns is called.
func (t Tools) Extract(ctx context.Context, objects []Object) (list []Cubin, remove func() error, err error) {
	temp, err := tempdir.Make("", "opcast-sass")
	if err != nil {
		return nil, nil, fmt.Errorf("folder for cubins: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, temp.Remove())
		}
	}()
	for i, o := range objects {
		folder := filepath.Join(temp.Path, fmt.Sprint(i))
		if err := os.Mkdir(folder, 0o777); err != nil {
			return nil, nil, fmt.Errorf("folder for cubins: %w", err)
		}
		path, err := filepath.Abs(o.Path)
		if err != nil {
			return nil, nil, fmt.Errorf("find %s: %w", o.Path, err)
		}
		if _, err := t.run(ctx, folder, t.Cuobjdump, "-xelf", "all", path); err != nil {
			return nil, nil, err
		}
		found, err := cubinsIn(folder, o.Source)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, found...)
	}
	return list, temp.Remove, nil
}

// cubinsIn are the cubins in a folder that have kernels.
func cubinsIn(folder, source string) (list []Cubin, err error) {
	names, err := filepath.Glob(filepath.Join(folder, "*.cubin"))
	if err != nil {
		return nil, fmt.Errorf("find cubins: %w", err)
	}
	for _, name := range names {
		m := cubinName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		c := Cubin{Source: source, Arch: m[1], path: name}
		if c.Kernels, err = kernels(name); err != nil {
			return nil, err
		}
		if len(c.Kernels) > 0 {
			list = append(list, c)
		}
	}
	return list, nil
}

// Functions disassembles the kernels of a cubin.
func (t Tools) Functions(ctx context.Context, c *Cubin) ([]Function, error) {
	text, err := t.run(ctx, "", t.Nvdisasm, "-c", c.path)
	if err != nil {
		return nil, err
	}
	var list []Function
	for _, l := range parse(text) {
		i := slices.IndexFunc(c.Kernels, func(k Kernel) bool { return k.Name == l.name })
		if i < 0 {
			continue // a function that kernels call
		}
		f := function(l)
		f.Kernel, f.Source, f.Arch = c.Kernels[i], c.Source, c.Arch
		list = append(list, f)
	}
	return list, nil
}

// run returns what a program prints.
func (t Tools) run(ctx context.Context, dir string, words ...string) (string, error) {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", filepath.Base(words[0]), err, stderr.String())
	}
	return stdout.String(), nil
}
