package build

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/ninja"
	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/pyenv"
)

// inputs is all that a plan depends on. Paths are relative to the project, with slashes.
type inputs struct {
	project  *opdef.Project
	env      *pyenv.Env
	compiler compiler
	debug    bool
	runtime  tree
	// kernels are the author's units, backend those of the runtime and of the generator, jax those of the handler
	// library, which is not built when there are none.
	kernels, backend, jax []string
}

// plan is a build that has not run: the texts to write and the libraries that will come out.
type plan struct {
	folder    string // build/release or build/debug
	ninja     string
	commands  []byte // compile_commands.json
	toolchain string
	libraries []library
}

// library is one output.
type library struct {
	// name is the file's name, exports the prefix of everything that it exports.
	name, output, exports string
	sources               []string
}

// unit is one compiler run.
type unit struct{ source, object, flags string }

func newPlan(in inputs) (*plan, error) {
	p := &plan{folder: "build/release", toolchain: toolchain(in)}
	if in.debug {
		p.folder = "build/debug"
	}
	name := in.project.Manifest.Name
	p.add("lib"+name+".so", "__tvm_ffi_", slices.Concat(in.backend, in.kernels))
	if len(in.jax) > 0 {
		p.add("lib"+name+"_jax.so", "opcast_jax_", in.jax)
	}
	var units []unit
	for _, l := range p.libraries {
		for _, s := range l.sources {
			units = append(units, unit{s, p.object(s), in.compileFlags(s)})
		}
	}
	var err error
	if p.ninja, err = p.ninjaText(in, units); err != nil {
		return nil, err
	}
	p.commands, err = compileCommands(in, units)
	return p, err
}

// path is a file of the build folder, relative to the project.
func (p *plan) path(name string) string { return path.Join(p.folder, name) }

func (p *plan) object(source string) string { return p.path("obj/" + source + ".o") }

func (p *plan) add(name, exports string, sources []string) {
	p.libraries = append(p.libraries, library{name, p.path(name), exports, sources})
}

// ninjaText describes the build to ninja. It runs in the project's folder, so that command lines, and with them the
// library's bytes, do not depend on where the project lies.
func (p *plan) ninjaText(in inputs, units []unit) (string, error) {
	stamp := []string{p.path("toolchain.txt")}
	cxx := ninja.Escape(strings.Join(in.compiler.words, " "))
	file := ninja.File{
		Comment: "Written by opcast build.",
		Vars:    []ninja.Var{{Name: "builddir", Value: p.folder}, {Name: "cxx", Value: cxx}},
		Rules: []ninja.Rule{
			{Name: "compile", Vars: []ninja.Var{
				{Name: "command", Value: "$cxx -MD -MF $out.d $flags -c $in -o $out"},
				{Name: "depfile", Value: "$out.d"},
				{Name: "deps", Value: "gcc"},
				{Name: "description", Value: "compile $in"},
			}},
			{Name: "link", Vars: []ninja.Var{
				// A response file: thousands of objects would not fit a command line.
				{Name: "command", Value: "$cxx -shared -o $out @$out.rsp $flags"},
				{Name: "rspfile", Value: "$out.rsp"},
				{Name: "rspfile_content", Value: "$in_newline"},
				{Name: "description", Value: "link $out"},
			}},
		},
	}
	for _, u := range units {
		file.Builds = append(file.Builds, ninja.Build{
			Outputs: []string{u.object}, Rule: "compile", Inputs: []string{u.source}, Implicit: stamp,
			Vars: []ninja.Var{{Name: "flags", Value: ninja.Escape(u.flags)}},
		})
	}
	for _, l := range p.libraries {
		var objects []string
		for _, s := range l.sources {
			objects = append(objects, p.object(s))
		}
		file.Builds = append(file.Builds, ninja.Build{
			Outputs: []string{l.output}, Rule: "link", Inputs: objects, Implicit: append(stamp, l.script()),
			Vars: []ninja.Var{{Name: "flags", Value: ninja.Escape(in.linkFlags(l))}},
		})
		file.Defaults = append(file.Defaults, l.output)
	}
	return file.Text()
}

// script is the path of the library's version script.
func (l library) script() string { return l.output + ".map" }

// toolchain is a text that changes when a compiler or a header package does. Everything depends on it, because an
// older file that replaces a newer one would not look changed to ninja.
func toolchain(in inputs) string {
	lines := in.compiler.version + "\n"
	for _, d := range []string{"apache-tvm-ffi", "jaxlib"} {
		lines += d + " " + in.env.Packages[d] + "\n"
	}
	return lines
}

// compileCommands is the compilation database that editors read.
func compileCommands(in inputs, units []unit) ([]byte, error) {
	type entry struct {
		Directory string `json:"directory"`
		Command   string `json:"command"`
		File      string `json:"file"`
		Output    string `json:"output"`
	}
	entries := []entry{}
	for _, u := range units {
		command := fmt.Sprintf("%s %s -c %s -o %s", strings.Join(in.compiler.words, " "), u.flags,
			shellWords(u.source), shellWords(u.object))
		entries = append(entries, entry{in.project.Dir, command, u.source, u.object})
	}
	return json.MarshalIndent(entries, "", "  ")
}

// write brings the plan's texts to disk; those that are right already keep their times.
func (p *plan) write(dir string) error {
	texts := map[string]string{
		p.path("build.ninja"):         p.ninja,
		p.path("toolchain.txt"):       p.toolchain,
		"build/compile_commands.json": string(p.commands) + "\n",
	}
	for _, l := range p.libraries {
		texts[l.script()] = fmt.Sprintf("{\n  global: %s*;\n  local: *;\n};\n", l.exports)
	}
	for name, text := range texts {
		if _, err := replace(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	return nil
}
