package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/ninja"
	"github.com/opcast/opcast/internal/system/safefile"
)

// Usages compiles the sources that include a header once more, for each of the architectures of a device, and says what their
// kernels take. The generated files are up to date.
func Usages(ctx context.Context, o Options, device, header string) (list []compiler.Usage, err error) {
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
		text, err := os.ReadFile(tree.Local(o.Project.Dir, u.source))
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
func (p *plan) usages(ctx context.Context, u unit, file string) (list []compiler.Usage, err error) {
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
		used := compiler.ParseUsages(out)
		if err := compiler.CountInstructions(used, tree.Local(p.in.project.Dir, file)); err != nil {
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
func (p *plan) gfxUsages(ctx context.Context, u unit, file string) (list []compiler.Usage, err error) {
	vars := append(p.in.machine(p.id), p.in.flags()...)
	command := fmt.Sprintf("%s %s -c %s -o %s", ninja.Expand("$hipcc", vars), ninja.Expand(u.flags, vars), shellWords(u.source), shellWords(file))
	if _, err := p.compileAgain(ctx, u, command); err != nil {
		return nil, err
	}
	kernels, err := elfcheck.GFXKernels(tree.Local(p.in.project.Dir, file))
	for _, k := range kernels {
		list = append(list, compiler.Usage{Source: u.source, Arch: k.Arch, Kernel: k.Name, Registers: k.Registers, Scalars: k.Scalars,
			Local: k.Scratch, Spilled: k.Spilled, Shared: k.Shared, Bytes: k.Code})
	}
	return list, err
}

// ObjectFiles are what a build has compiled for the library of the backend.
type ObjectFiles struct {
	// Paths are all object files; Kernels are those of nvcc, by their sources, which Sources lists.
	Paths, Sources []string
	Kernels        map[string]string
	// Compiler is the command of the C++ compiler in words; Link are the options to link, as a shell reads them, without CUDA's
	// runtime. NVCC is the program.
	Compiler []string
	Link     string
	NVCC     string
}

// FindObjectFiles says where the objects of a build lie whose devices have CUDA among them. It is an error that there are none.
func FindObjectFiles(ctx context.Context, o Options) (*ObjectFiles, error) {
	root, err := os.OpenRoot(o.Project.Dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through the folder itself
	in, _, err := gather(ctx, o, root)
	if err != nil {
		return nil, err
	}
	if in.cuda == nil {
		return nil, errors.New("find objects: the build is not for CUDA")
	}
	if in.headers, _, err = FindHeaders(ctx, o.Project, o.Env, o.Runtime); err != nil {
		return nil, err
	}
	p, err := newPlan(in)
	if err != nil {
		return nil, err
	}
	l := p.libraries[0]
	link := strings.Replace(in.linkFlags(l), " -lcudart_static", "", 1)
	found := &ObjectFiles{
		Kernels: map[string]string{}, Compiler: in.compiler.Words, NVCC: in.cuda.NVCC,
		Link: ninja.Expand(link, append(in.machine(p.id), in.flags()...)),
	}
	for _, source := range l.sources {
		path := tree.Local(o.Project.Dir, p.object(source))
		if _, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("find object: %w: build first", err)
		}
		found.Paths = append(found.Paths, path)
		if in.nvccTakes(source) {
			found.Sources, found.Kernels[source] = append(found.Sources, source), path
		}
	}
	return found, nil
}
