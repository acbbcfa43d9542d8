package build

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/ninja"
)

// inputs is all that a plan depends on. Paths are relative to the project, with slashes.
type inputs struct {
	project  *opdef.Project
	env      *pyenv.Env
	compiler compiler.CXX
	// cuda and hip are nil when the library is built for the CPU only; one of them always is.
	cuda  *compiler.CUDA
	hip   *compiler.HIP
	debug bool
	// sanitizer looks for errors while the library runs; nil for none.
	sanitizer *Sanitizer
	// emulated is the device in software on which kernels for GPUs run, nil where they run on GPUs; emulatedGFX are AMD's
	// architectures for which it stands.
	emulated    *emulation
	emulatedGFX []string
	// withoutCPU leaves the kernels for the CPU out of the library, so that they need not be there.
	withoutCPU bool
	// narrowest is the instruction set below which loops are not compiled, as parallel.h calls it; all are where it is empty.
	narrowest string
	runtime   tree.Runtime
	// embedded holds opcast's own runtime.
	embedded fs.FS
	// kernels are the author's units, backend those of the runtime and of the generator, handlers the libraries of frameworks.
	kernels, backend []string
	handlers         []handlers
	// features are those of the CPU with which sources are compiled. newPlan fills them in.
	features map[string][]string
	// libraries are the files of the project that link names, outside the others that it names.
	libraries, outside []string
	// stubs are the files of the old C library that a portable build links with, shim the source among them; else there are none.
	stubs, shim []string
	// newer are the sorted symbols that only this machine's C library has.
	newer []string
	// headers are the third-party headers as they lie on this machine.
	headers []Headers
	// digest is that of all source files, environment what the compilers read from the environment.
	digest, environment string
}

// plan is a build that has not run: what to compile and the libraries that will come out.
type plan struct {
	in     inputs
	folder string // build/release, build/debug, …
	id     string
	// portable is the build.ninja of everything, without what differs between machines.
	portable  string
	units     []unit
	libraries []library
}

// library is one output.
type library struct {
	// name is the file's name in the build folder (output) and in the package (installed).
	name, output, installed string
	// exports are the prefixes of everything that it exports.
	exports, sources []string
	// beside are libraries of a framework that it needs, families the beginnings of the names that these provide.
	beside, families []string
}

// unit is one compiler run. The key stands for the compiler with its options and for what it reads from the environment.
type unit struct{ source, object, flags, key string }

func newPlan(in inputs) (*plan, error) {
	in.features = in.sourceFeatures()
	p := &plan{in: in, folder: in.folder()}
	p.add(in.sanitizer.inSite(backendLibrary(in.project)), []string{"__tvm_ffi_"}, slices.Concat(in.backend, in.inLinkOrder(), in.shim))
	for i := range in.handlers {
		h := &in.handlers[i]
		l := p.add(handlerLibrary(in.project, &h.Framework), []string{h.exports()}, slices.Concat(h.sources, in.shim))
		l.beside, l.families = h.Handlers.Beside(), h.Handlers.Symbols
	}
	if e := in.emulated; e != nil {
		driver, _ := e.split(in.runtime.Emulator)
		p.add(e.driverFolder()+"/"+e.driver, e.exports, slices.Concat(driver, in.shim))
	}
	for _, l := range p.libraries {
		for _, s := range l.sources {
			if in.isShim(s) && slices.ContainsFunc(p.units, func(u unit) bool { return u.source == s }) {
				continue // all libraries share it
			}
			flags, err := in.unitFlags(s)
			if err != nil {
				return nil, err
			}
			p.units = append(p.units, unit{source: s, object: p.object(s), flags: flags})
		}
	}
	var err error
	if p.portable, err = p.file(p.folder, p.units, p.libraries).Text(); err != nil {
		return nil, err
	}
	p.id = tree.Key(p.portable, in.toolchain(), in.environment, in.digest)[:idLength]
	for i := range p.units {
		u := &p.units[i]
		u.key = p.key(u.flags)
	}
	return p, nil
}

// folder is where a build lies, so that one of another kind stays as it is.
func (in inputs) folder() string {
	switch {
	case in.sanitizer != nil:
		return in.sanitizer.folder()
	case in.emulated != nil:
		return in.emulated.folder()
	case in.debug:
		return "build/debug"
	}
	return "build/release"
}

// idLength is the number of hexadecimal digits in the build id, which tells a library from others that were built from
// other sources, with other flags or by other compilers.
const idLength = 16

// key stands for a command line, the programs that it runs, and what these read from the environment. It does not say
// where on this machine things are.
func (p *plan) key(flags string) string {
	nowhere := p.in
	project := *p.in.project
	project.Dir = "project"
	nowhere.project, nowhere.env = &project, &pyenv.Env{TVMInclude: "tvm_ffi", Includes: map[string]string{}}
	for _, h := range p.in.handlers {
		nowhere.env.Includes[h.Handlers.Package] = h.Handlers.Package
	}
	nowhere.headers = withoutPlace(p.in.headers)
	tools := p.in.compiler.Identity
	if p.in.cuda != nil {
		nowhere.cuda = &compiler.CUDA{NVCC: "nvcc", Libraries: "cudart"}
		tools += p.in.cuda.Identity
	}
	if p.in.hip != nil {
		nowhere.hip = &compiler.HIP{Words: []string{"hipcc"}, Archs: p.in.hip.Archs}
		tools += p.in.hip.Identity
	}
	return tree.Key(tools, p.in.environment, fmt.Sprint(rules(p.in)), ninja.Expand(flags, append(nowhere.machine(p.id), p.in.flags()...)))
}

// patterns are the prefixes of what the library exports in a version script, which writes a star behind the last.
func (l *library) patterns() string { return strings.Join(l.exports, "*; ") }

// path is a file of the build folder, relative to the project.
func (p *plan) path(name string) string { return path.Join(p.folder, name) }

func (p *plan) object(source string) string { return p.path("obj/" + source + ".o") }

func (p *plan) add(installed string, exports, sources []string) *library {
	name := path.Base(installed)
	p.libraries = append(p.libraries, library{name: name, output: p.path(name), installed: installed, exports: exports, sources: sources})
	return &p.libraries[len(p.libraries)-1]
}

// file describes to ninja how the given units are compiled and the given libraries linked. What is made lies below a
// folder; objects that are not made lie in the build folder. Commands run in the project's folder, so that they, and with
// them the library's bytes, do not depend on where the project lies.
func (p *plan) file(folder string, units []unit, libraries []library) *ninja.File {
	file := &ninja.File{
		Comment: "Code generated by opcast from opcast.toml. DO NOT EDIT.",
		Vars:    append([]ninja.Var{{Name: "builddir", Value: folder}}, p.in.flags()...),
		Rules:   rules(p.in),
	}
	made := map[string]string{}
	for _, u := range units {
		rule, _ := p.in.compilerOf(u.source)
		made[u.object] = p.within(folder, u.object)
		file.Builds = append(file.Builds, ninja.Build{
			Outputs: []string{made[u.object]}, Rule: rule, Inputs: []string{u.source},
			Vars: []ninja.Var{{Name: "flags", Value: u.flags}},
		})
	}
	for _, l := range libraries {
		var objects []string
		for _, s := range l.sources {
			objects = append(objects, cmp.Or(made[p.object(s)], p.object(s)))
		}
		output := p.within(folder, l.output)
		file.Builds = append(file.Builds, ninja.Build{
			Outputs: []string{script(output)}, Rule: "exports", Vars: []ninja.Var{{Name: "prefix", Value: shellWords(l.patterns())}},
		}, ninja.Build{
			Outputs: []string{output}, Rule: "link", Inputs: objects,
			Implicit: slices.Concat([]string{script(output)}, p.in.libraries, p.in.stubs),
			Vars:     []ninja.Var{{Name: "flags", Value: p.in.linkFlags(l)}},
		})
		file.Defaults = append(file.Defaults, output)
	}
	if len(libraries) == 0 {
		for _, u := range units {
			file.Defaults = append(file.Defaults, made[u.object])
		}
	}
	return file
}

// within is where a file of the build folder lies in another folder.
func (p *plan) within(folder, file string) string { return folder + strings.TrimPrefix(file, p.folder) }

// compilerOf is the rule for a source, and the variable with the compiler's command.
func (in inputs) compilerOf(source string) (rule, command string) {
	switch {
	case !forGPU(source) || in.isEmulated(source):
		return "compile", "$cxx"
	case in.hip != nil:
		return "hip", "$hipcc"
	}
	return nvccRule, "$nvcc"
}

// nvccRule is the name of the rule for units that nvcc compiles.
const nvccRule = "nvcc"

// rules are the commands of a build file; those for GPUs stand only where they are needed.
func rules(in inputs) []ninja.Rule {
	compile := func(name, command string) ninja.Rule {
		return ninja.Rule{Name: name, Vars: []ninja.Var{
			{Name: "command", Value: command + " -MD -MF $out.d $flags -c $in -o $out"},
			{Name: "depfile", Value: "$out.d"},
			{Name: "deps", Value: "gcc"},
			{Name: "description", Value: "compile $in"},
		}}
	}
	all := []ninja.Rule{compile("compile", "$cxx")}
	if in.cuda != nil {
		all = append(all, compile("nvcc", "$nvcc -frandom-seed=$in")) // names of kernels would differ from run to run
	}
	if in.hip != nil {
		all = append(all, compile("hip", "$hipcc"))
	}
	return append(all,
		ninja.Rule{Name: "exports", Vars: []ninja.Var{
			{Name: "command", Value: "printf '{ global: %s*; local: *; };\\n' $prefix > $out"},
			{Name: "description", Value: "write $out"},
		}},
		ninja.Rule{Name: "link", Vars: []ninja.Var{
			// A response file: thousands of objects would not fit a command line.
			{Name: "command", Value: "$cxx -shared -o $out @$out.rsp -Wl,--version-script=$out.map $flags"},
			{Name: "rspfile", Value: "$out.rsp"},
			{Name: "rspfile_content", Value: "$in_newline"},
			{Name: "description", Value: "link $out"},
		}})
}

// script is the path of the version script of a library.
func script(library string) string { return library + ".map" }

// compileCommands is the compilation database that editors read.
func (p *plan) compileCommands() ([]byte, error) {
	type entry struct {
		Directory string `json:"directory"`
		Command   string `json:"command"`
		File      string `json:"file"`
		Output    string `json:"output"`
	}
	entries, vars := []entry{}, append(p.in.machine(p.id), p.in.flags()...)
	for _, u := range p.units {
		_, compiler := p.in.compilerOf(u.source)
		command := fmt.Sprintf("%s %s -c %s -o %s", ninja.Expand(compiler, vars), ninja.Expand(u.flags, vars),
			shellWords(u.source), shellWords(u.object))
		entries = append(entries, entry{p.in.project.Dir, command, u.source, u.object})
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	return append(text, '\n'), err
}

// toolchain says which programs and packages a build uses.
func (in inputs) toolchain() string {
	text := in.compiler.Identity + in.portability()
	if in.cuda != nil {
		text += in.cuda.Identity
	}
	if in.hip != nil {
		text += in.hip.Identity
	}
	for _, d := range in.distributions() {
		text += d + " " + in.env.Packages[d] + "\n"
	}
	return text
}
