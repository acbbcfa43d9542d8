// Package build compiles a project into its libraries: it plans the build, lets ninja run it, checks what came out and
// puts it where Python finds it.
//
// The plan is pure (plan.go); everything that touches the machine stands around it.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/cache"
	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/system/safefile"
)

// Options are the inputs of a build.
type Options struct {
	Project *opdef.Project
	Env     *pyenv.Env
	// Runtime holds opcast's own C++ runtime in its folder "opcast", for projects that have none of their own.
	Runtime fs.FS
	// Devices are those to build for, a part of the manifest's; empty means all of them, without those whose compiler
	// lacks.
	Devices []string
	// Except are devices of the manifest for which nothing is built, and that are not missed.
	Except []string
	// Native compiles the loops of kernels for the CPU only for this machine's instruction set and wider ones.
	Native bool
	// Portable links libraries that run on older systems than this one.
	Portable bool
	// Debug builds without optimisation and with debug information; Verbose shows the command lines.
	Debug, Verbose bool
	// Sanitizer, if there is one, makes a library for the CPU that looks for errors while it runs, apart from the packages.
	Sanitizer *Sanitizer
	// Unlinked keeps the packages out of the environment.
	Unlinked bool
	// Objects keeps the objects of all builds of a user.
	Objects cache.Cache
	// Lock is that of the project's folder, which whatever the build starts holds, too.
	Lock   *Lock
	Getenv func(string) string
	// Log receives what ninja and the compiler print.
	Log io.Writer
}

// Result is what a build without findings leaves behind.
type Result struct {
	// Library is the path of the backend relative to the project, SHA256 the digest of its bytes.
	Library, SHA256 string
	// DeviceCode lists what the library holds for other devices than the CPU: "sm_80", "compute_90".
	DeviceCode []string
	// CUDA is the version of the toolkit that made it, empty where CUDA was left out.
	CUDA string
	// Import is a shell command that imports the collection.
	Import string
	// Notes say what was left out, and why.
	Notes []string
}

// Run builds the project. Findings are mistakes in the project that only the linked library shows. If sources change
// meanwhile, they are compiled again.
func Run(ctx context.Context, o Options) (*Result, diag.List, error) {
	ninja, err := findNinja(o.Env)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(o.Project.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("open project: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through the folder itself
	var result *Result
	var findings diag.List
	for range 5 {
		result, findings, err = run(ctx, o, root, ninja)
		if !errors.Is(err, errTouched) {
			break
		}
		fmt.Fprintln(o.Log, "a source has changed while it was compiled: once more")
	}
	return result, findings, err
}

func run(ctx context.Context, o Options, root *os.Root, ninja string) (*Result, diag.List, error) {
	in, notes, err := gather(ctx, o, root)
	if err != nil {
		return nil, nil, err
	}
	var lacking diag.List
	if in.headers, lacking, err = FindHeaders(ctx, o.Project, o.Env, o.Runtime); err != nil {
		return nil, nil, err
	}
	if lacking = slices.Concat(lacking, in.missingSources(), in.missingFiles()); len(lacking) > 0 {
		return nil, lacking, nil
	}
	p, err := newPlan(in)
	if err != nil {
		return nil, nil, err
	}
	commands, err := p.compileCommands()
	if err != nil {
		return nil, nil, err
	}
	if _, err := safefile.Write(root, "build/compile_commands.json", commands); err != nil {
		return nil, nil, err
	}
	j := &job{o: o, root: root, plan: p, ninja: ninja}
	findings, err := j.run(ctx)
	if err != nil || len(findings) > 0 {
		return nil, findings, err
	}
	result, err := install(o, root, p)
	if err != nil {
		return nil, nil, err
	}
	result.Notes = append(notes, result.Notes...)
	err = in.tellGPU(result, o.Project.Dir)
	return result, nil, err
}

// tellGPU says in a result for which GPUs the library has code.
func (in *inputs) tellGPU(result *Result, dir string) (err error) {
	switch {
	case in.emulated != nil:
		result.DeviceCode = []string{map[string]string{"cuda": "emulated CUDA", "rocm": "emulated ROCm"}[in.emulated.of]}
		return nil
	case in.cuda != nil:
		result.CUDA = in.cuda.Version
	case in.hip == nil:
		return nil
	}
	result.DeviceCode, err = elfcheck.DeviceCode(tree.Local(dir, result.Library))
	return err
}

// gather looks at the machine: the compilers, the sources and the runtime. Notes say what is left out, and why.
func gather(ctx context.Context, o Options, root *os.Root) (in inputs, notes []string, err error) {
	in = inputs{
		project: withArchs(o.Project, o.Getenv(compiler.ArchVariable)), embedded: o.Runtime, env: o.Env, debug: o.Debug,
		environment: compiler.EnvironmentText(o.Getenv), emulated: emulationIn(o.Devices), sanitizer: o.Sanitizer,
	}
	in.withoutCPU = in.emulated != nil && !slices.Contains(o.Devices, "cpu")
	if o.Native {
		in.narrowest = narrowest()
	}
	if in.compiler, err = compiler.FindCXX(ctx, o.Getenv); err != nil {
		return in, nil, err
	}
	if in.cuda, in.hip, notes, err = chooseGPU(ctx, o); err != nil {
		return in, nil, err
	}
	if in.emulates("rocm") {
		if in.emulatedGFX, err = compiler.EmulatedArchs(o.Project.Manifest.ROCm.Arch, o.Getenv); err != nil {
			return in, nil, err
		}
	}
	generated, lacking, err := in.generatedUnits(o)
	if err != nil {
		return in, nil, err
	}
	notes = append(notes, lacking...)
	if err := in.findUnits(o.Runtime, generated); err != nil {
		return in, nil, err
	}
	if len(in.kernels) == 0 {
		return in, nil, fmt.Errorf("opcast.toml: sources %q match no C++ file", o.Project.Manifest.Sources)
	}
	if err := in.runtime.Lay(root, o.Runtime); err != nil {
		return in, nil, err
	}
	if in.outside, err = outsideLibraries(ctx, in); err != nil {
		return in, nil, err
	}
	if err := in.takeOldLibc(ctx, root, o.Portable); err != nil {
		return in, nil, err
	}
	in.digest, err = in.sum()
	return in, notes, err
}

// generatedUnits are the units that the generator made: those of the backend, and of the frameworks that can use the library.
// Notes say which frameworks are left out.
func (in *inputs) generatedUnits(o Options) (units, notes []string, err error) {
	if units, err = tree.Glob(o.Project.Dir, "backend/gen/*.cc"); err != nil || in.withoutCPU || in.sanitizer != nil {
		return units, nil, err // no framework has an emulated device, or knows of a sanitizer
	}
	handlers, notes, err := findHandlers(o)
	return append(units, handlers...), notes, err
}

// devices are those to build for, if their compilers are there.
func (o *Options) devices() []string {
	if len(o.Devices) > 0 {
		return o.Devices
	}
	return slices.DeleteFunc(slices.Clone(o.Project.Manifest.Devices), func(d string) bool { return slices.Contains(o.Except, d) })
}

// findUnits lists what is to be compiled: kernels, the runtime, and of the generated files those of C++.
func (in *inputs) findUnits(embedded fs.FS, generated []string) error {
	dir, m := in.project.Dir, &in.project.Manifest
	found, err := tree.FindSources(dir, m.Sources)
	if err != nil {
		return err
	}
	if err := found.Match(m.Devices); err != nil {
		return err
	}
	if in.runtime, err = tree.FindRuntime(dir, embedded); err != nil {
		return err
	}
	in.backend, in.kernels, in.libraries = slices.Clone(in.runtime.Sources), found.CPP, in.linked()
	for _, f := range generated {
		if slices.Contains(tree.CPPSuffixes, path.Ext(f)) && path.Dir(f) == "backend/gen" {
			in.backend = append(in.backend, f)
		}
	}
	in.takeHandlers(generated)
	if in.onCUDA() {
		in.backend, in.kernels = append(in.backend, in.runtime.CUDA...), append(in.kernels, found.CUDA...)
	}
	if in.onROCm() {
		in.backend, in.kernels = append(in.backend, in.runtime.HIP...), slices.Concat(in.kernels, found.CUDA, found.HIP)
	}
	in.kernels = slices.DeleteFunc(in.kernels, in.leavesOut)
	if in.emulated != nil {
		_, library := in.emulated.split(in.runtime.Emulator)
		in.backend = append(in.backend, library...)
	}
	return nil
}
