package build

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/elfcheck"
	"github.com/opcast/opcast/internal/ninja"
	"github.com/opcast/opcast/internal/safefile"
)

// Usage is what one kernel function takes of a GPU of one architecture, as the CUDA compiler says, or the code for AMD's.
type Usage struct {
	// Source is the file, Arch the architecture ("sm_80", "gfx90a"), Kernel the function.
	Source, Arch, Kernel string
	// Registers are those of a thread, Scalars those that threads of AMD's GPUs share. Local is a thread's memory in bytes beside
	// them, for arrays that are indexed and for registers that did not suffice; spilling those writes SpillStores and reads
	// SpillLoads bytes, or concerns so many Spilled registers.
	Registers, Scalars, Local, SpillStores, SpillLoads, Spilled int
	// Shared is the block's shared memory in bytes, without what is given when it starts.
	Shared int
	// Instructions are those of the whole function, with some that fill it up; AMD's differ in length, which is in Bytes.
	Instructions, Bytes int
}

// Usages compiles the sources that include a header once more, for each of the architectures of a device, and says what their
// kernels take. The generated files are up to date.
func Usages(ctx context.Context, o Options, device, header string) (list []Usage, err error) {
	root, err := os.OpenRoot(o.Project.Dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through the folder itself
	p, err := planFor(ctx, o, root, device)
	if err != nil {
		return nil, err
	}
	work := p.path("work") // as of every build, whose lock is held
	if err := errors.Join(safefile.RemoveAll(root, work), root.MkdirAll(work, 0o777)); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	defer func() { err = errors.Join(err, safefile.RemoveAll(root, work)) }()
	include := regexp.MustCompile(`(?m)^\s*#\s*include\s*"` + regexp.QuoteMeta(header) + `"`)
	for _, u := range p.units {
		if !forGPU(u.source) {
			continue
		}
		text, err := os.ReadFile(local(o.Project.Dir, u.source))
		if err != nil {
			return nil, fmt.Errorf("read source: %w", err)
		}
		if !include.Match(text) {
			continue
		}
		used, err := p.usages(ctx, u, path.Join(work, "code"))
		if err != nil {
			return nil, err
		}
		list = append(list, used...)
	}
	return list, nil
}

// planFor is the plan of a build for one device.
func planFor(ctx context.Context, o Options, root *os.Root, device string) (*plan, error) {
	o.Devices = []string{device}
	in, _, err := gather(ctx, o, root)
	if err != nil {
		return nil, err
	}
	if in.headers, _, err = FindHeaders(ctx, o.Project, o.Env, o.Runtime); err != nil {
		return nil, err
	}
	return newPlan(in)
}

var codeOption = regexp.MustCompile(` -gencode arch=compute_(\w+),code=sm_\w+`)

// usages compiles one unit for each of its architectures to a file. PTX is compiled on the machine that runs it.
func (p *plan) usages(ctx context.Context, u unit, file string) (list []Usage, err error) {
	if p.in.hip != nil {
		return p.gfxUsages(ctx, u, file)
	}
	vars := append(p.in.machine(p.id), p.in.flags()...)
	flags := " " + ninja.Expand(u.flags, vars)
	for _, option := range codeOption.FindAllStringSubmatch(flags, -1) {
		words := regexp.MustCompile(` -gencode \S+`).ReplaceAllString(flags, "")
		command := fmt.Sprintf("%s%s -arch=sm_%s -cubin -Xptxas -v %s -o %s", ninja.Expand("$nvcc", vars), words, option[1],
			shellWords(u.source), shellWords(file))
		out, err := p.compileAgain(ctx, u, command)
		if err != nil {
			return nil, err
		}
		used := parseUsages(out)
		if err := countInstructions(used, local(p.in.project.Dir, file)); err != nil {
			return nil, fmt.Errorf("read code of %s: %w", u.source, err)
		}
		for i := range used {
			used[i].Source = u.source
		}
		list = append(list, used...)
	}
	return list, nil
}

// compileAgain runs a command for a unit, and returns what it prints.
func (p *plan) compileAgain(ctx context.Context, u unit, command string) (string, error) {
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Dir = p.in.project.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile %s: %w\n%s", u.source, err, out)
	}
	return string(out), nil
}

// gfxUsages compiles one unit for AMD's GPUs to a file, whose code tells what its kernels take.
func (p *plan) gfxUsages(ctx context.Context, u unit, file string) (list []Usage, err error) {
	vars := append(p.in.machine(p.id), p.in.flags()...)
	command := fmt.Sprintf("%s %s -c %s -o %s", ninja.Expand("$hipcc", vars), ninja.Expand(u.flags, vars), shellWords(u.source), shellWords(file))
	if _, err := p.compileAgain(ctx, u, command); err != nil {
		return nil, err
	}
	kernels, err := elfcheck.GFXKernels(local(p.in.project.Dir, file))
	for _, k := range kernels {
		list = append(list, Usage{Source: u.source, Arch: k.Arch, Kernel: k.Name, Registers: k.Registers, Scalars: k.Scalars,
			Local: k.Scratch, Spilled: k.Spilled, Shared: k.Shared, Bytes: k.Code})
	}
	return list, err
}

// What ptxas -v says of a kernel, in this order; functions that a kernel calls have properties, too, but no entry.
var (
	entryLine     = regexp.MustCompile(`Compiling entry function '(\S+)' for '(\w+)'`)
	functionLine  = regexp.MustCompile(`Function properties for (\S+)`)
	localLine     = regexp.MustCompile(`(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	registersLine = regexp.MustCompile(`Used (\d+) registers`)
	sharedWords   = regexp.MustCompile(`(\d+) bytes smem`)
)

// parseUsages reads the words of ptxas. The kernels' names are mangled.
func parseUsages(text string) (list []Usage) {
	number := func(word string) int {
		n, _ := strconv.Atoi(word) // digits
		return n
	}
	function := ""
	for line := range strings.Lines(text) {
		if m := entryLine.FindStringSubmatch(line); m != nil {
			list = append(list, Usage{Kernel: m[1], Arch: m[2]})
			continue
		}
		if len(list) == 0 {
			continue
		}
		last := &list[len(list)-1]
		if m := functionLine.FindStringSubmatch(line); m != nil {
			function = m[1]
		} else if m := localLine.FindStringSubmatch(line); m != nil && function == last.Kernel {
			last.Local, last.SpillStores, last.SpillLoads = number(m[1]), number(m[2]), number(m[3])
		} else if m := registersLine.FindStringSubmatch(line); m != nil {
			last.Registers = number(m[1])
			if m := sharedWords.FindStringSubmatch(line); m != nil {
				last.Shared = number(m[1])
			}
		}
	}
	return list
}

// instructionSize is that of the machine code since sm_70, in bytes.
const instructionSize = 16

// countInstructions looks the kernels up in a file of machine code.
func countInstructions(list []Usage, name string) error {
	file, err := elf.Open(name)
	if err != nil {
		return err
	}
	for i := range list {
		section := file.Section(".text." + list[i].Kernel)
		if section == nil {
			return errors.Join(fmt.Errorf("no code of %s", list[i].Kernel), file.Close())
		}
		list[i].Instructions = int(section.Size / instructionSize)
	}
	return file.Close()
}
