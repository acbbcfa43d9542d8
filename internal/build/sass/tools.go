package sass

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/binary"
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

// Kernel is what a kernel takes of a device, as its cubin says.
type Kernel struct {
	// Name is mangled.
	Name string `json:"name"`
	// Registers are those of a thread. Shared is a block's memory in bytes without what is given at the launch; Frame is the local
	// memory of a thread. MaxThreads is the launch bound, 0 if there is none.
	Registers  int `json:"registers"`
	Shared     int `json:"shared"`
	Frame      int `json:"frame"`
	MaxThreads int `json:"max_threads"`
	// Parameters are the sizes of the parameters in order, in bytes.
	Parameters []int `json:"-"`
}

// Attributes in the sections .nv.info and .nv.info.KERNEL. A record has two bytes for its format and its attribute, and two with its
// value or, in the format below, with the number of bytes that follow.
const (
	sized         = 0x04
	maxThreads    = 0x05
	frameSize     = 0x11
	parameterInfo = 0x17
	registerCount = 0x2f
)

// kernels reads what the cubin of a file says of its kernels, in the order of their code.
func kernels(path string) ([]Kernel, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read cubin: %w", err)
	}
	defer func() { _ = file.Close() }() // it was read
	var list []Kernel
	for _, s := range file.Sections {
		if name, isInfo := strings.CutPrefix(s.Name, ".nv.info."); isInfo {
			k := Kernel{Name: name}
			if err := k.read(s); err != nil {
				return nil, err
			}
			if shared := file.Section(".nv.shared." + name); shared != nil {
				k.Shared = int(shared.Size)
			}
			list = append(list, k)
		}
	}
	return list, common(file, list)
}

// common reads what stands in the section for all kernels.
func common(file *elf.File, list []Kernel) error {
	info, symbols := file.Section(".nv.info"), []elf.Symbol(nil)
	if info == nil {
		return nil
	}
	symbols, err := file.Symbols()
	if err != nil {
		return fmt.Errorf("read symbols of a cubin: %w", err)
	}
	return records(info, func(attribute byte, value []byte) {
		if len(value) < 8 || attribute != registerCount && attribute != frameSize {
			return
		}
		symbol, n := binary.LittleEndian.Uint32(value), int(binary.LittleEndian.Uint32(value[4:]))
		if symbol == 0 || int(symbol) > len(symbols) {
			return
		}
		i := slices.IndexFunc(list, func(k Kernel) bool { return k.Name == symbols[symbol-1].Name })
		if i >= 0 && attribute == registerCount {
			list[i].Registers = n
		} else if i >= 0 {
			list[i].Frame = n
		}
	})
}

func (k *Kernel) read(s *elf.Section) error {
	type parameter struct{ ordinal, size int }
	var parameters []parameter
	err := records(s, func(attribute byte, value []byte) {
		switch {
		case attribute == maxThreads && len(value) >= 12:
			k.MaxThreads = 1
			for i := range 3 {
				k.MaxThreads *= int(binary.LittleEndian.Uint32(value[4*i:]))
			}
		case attribute == parameterInfo && len(value) >= 12: // an index, ordinal, offset, and the size above other bits
			parameters = append(parameters, parameter{int(binary.LittleEndian.Uint16(value[4:])), int(binary.LittleEndian.Uint32(value[8:]) >> 18)})
		}
	})
	slices.SortFunc(parameters, func(a, b parameter) int { return a.ordinal - b.ordinal })
	for _, p := range parameters {
		k.Parameters = append(k.Parameters, p.size)
	}
	return err
}

// records calls a function for each record of a section that has a value of several bytes.
func records(s *elf.Section, each func(attribute byte, value []byte)) error {
	data, err := s.Data()
	if err != nil {
		return fmt.Errorf("read %s of a cubin: %w", s.Name, err)
	}
	for in := bytes.NewBuffer(data); in.Len() >= 4; {
		head := in.Next(4)
		if head[0] == sized {
			each(head[1], in.Next(int(binary.LittleEndian.Uint16(head[2:]))))
		}
	}
	return nil
}
