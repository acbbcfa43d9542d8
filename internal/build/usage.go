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

	"github.com/opcast/opcast/internal/ninja"
	"github.com/opcast/opcast/internal/safefile"
)

// Usage is what one kernel function takes of a GPU of one architecture, as the CUDA compiler says.
type Usage struct {
	// Source is the file, Arch the architecture ("sm_80"), Kernel the function.
	Source, Arch, Kernel string
	// Registers are those of a thread. Local is its memory in bytes beside them, for arrays that are indexed and for
	// registers that did not suffice; spilling those writes SpillStores and reads SpillLoads bytes.
	Registers, Local, SpillStores, SpillLoads int
	// Shared is the block's shared memory in bytes, without what is given when it starts.
	Shared int
	// Instructions are those of the whole function, with some that fill it up.
	Instructions int
}

// Usages compiles the sources that include a header once more, for each of their architectures, and says what their
// kernels take. The generated files are up to date.
func Usages(ctx context.Context, o Options, header string) (list []Usage, err error) {
	root, err := os.OpenRoot(o.Project.Dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through the folder itself
	p, err := planForCUDA(ctx, o, root)
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
		if !isCUDA(u.source) {
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

// planForCUDA is the plan of a build for CUDA alone.
func planForCUDA(ctx context.Context, o Options, root *os.Root) (*plan, error) {
	o.Devices = []string{"cuda"}
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
	vars := append(p.in.machine(p.id), p.in.flags()...)
	flags := " " + ninja.Expand(u.flags, vars)
	for _, option := range codeOption.FindAllStringSubmatch(flags, -1) {
		words := regexp.MustCompile(` -gencode \S+`).ReplaceAllString(flags, "")
		command := fmt.Sprintf("%s%s -arch=sm_%s -cubin -Xptxas -v %s -o %s", ninja.Expand("$nvcc", vars), words, option[1],
			shellWords(u.source), shellWords(file))
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Dir = p.in.project.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("compile %s: %w\n%s", u.source, err, out)
		}
		used := parseUsages(string(out))
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
