package build

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/ninja"
)

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
