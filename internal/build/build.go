// Package build compiles a project into its libraries: it plans the build, lets ninja run it, checks what came out and
// puts it where Python finds it.
//
// The plan is pure (plan.go); everything that touches the machine stands around it.
package build

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// Options are the inputs of a build.
type Options struct {
	Project *opdef.Project
	Env     *pyenv.Env
	// Runtime holds opcast's own C++ runtime in its folder "opcast", for projects that have none of their own.
	Runtime fs.FS
	// Debug builds without optimisation and with debug information; Verbose shows the command lines.
	Debug, Verbose bool
	Getenv         func(string) string
	// Log receives what ninja and the compiler print.
	Log io.Writer
}

// Result is what a build without findings leaves behind.
type Result struct {
	// Library is the path of the backend relative to the project, SHA256 the digest of its bytes.
	Library, SHA256 string
	// Import is a shell command that imports the collection.
	Import string
	// Notes say what was left out, and why.
	Notes []string
}

// Run builds the project. Findings are mistakes in the project that only the linked library shows.
func Run(ctx context.Context, o Options) (*Result, diag.List, error) {
	ninja, err := findNinja(o.Env)
	if err != nil {
		return nil, nil, err
	}
	in, err := gather(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	p, err := newPlan(in)
	if err != nil {
		return nil, nil, err
	}
	if err := p.write(o.Project.Dir); err != nil {
		return nil, nil, err
	}
	if err := runNinja(ctx, o, ninja, p.path("build.ninja")); err != nil {
		return nil, nil, err
	}
	findings, err := check(o, p.libraries)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	result, err := install(o, p)
	if err != nil {
		return nil, nil, err
	}
	if note := jaxNote(o); note != "" {
		result.Notes = append(result.Notes, note)
	}
	return result, nil, nil
}

// gather looks at the machine: the compiler, the sources and the runtime.
func gather(ctx context.Context, o Options) (in inputs, err error) {
	in = inputs{project: o.Project, env: o.Env, debug: o.Debug}
	if in.compiler, err = findCompiler(ctx, o.Getenv); err != nil {
		return in, err
	}
	dir := o.Project.Dir
	if in.kernels, err = findSources(dir, o.Project.Manifest.Sources); err != nil {
		return in, err
	}
	if in.runtime, err = findRuntime(dir, o.Runtime); err != nil {
		return in, err
	}
	generated, err := glob(dir, "backend/gen/*.gen.cc")
	if err != nil {
		return in, err
	}
	in.backend = append(slices.Clone(in.runtime.sources), generated...)
	if wantsJAX(o.Project) && o.Env.JAXInclude != "" {
		in.jax, err = glob(dir, jaxFolder+"/*.cc")
	}
	return in, err
}

func wantsJAX(p *opdef.Project) bool { return slices.Contains(p.Manifest.Adaptors, "jax") }

// jaxNote says why a collection that wants JAX got no handler library.
func jaxNote(o Options) string {
	if !wantsJAX(o.Project) || o.Env.JAXInclude != "" {
		return ""
	}
	return fmt.Sprintf("the JAX adaptor was left out: this environment has no jaxlib\n  run: %s",
		o.Env.InstallCommand("jax", "jaxlib"))
}

// local is the path of a file of the project on this machine.
func local(project *opdef.Project, path string) string {
	return filepath.Join(project.Dir, filepath.FromSlash(path))
}
