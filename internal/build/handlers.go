package build

import (
	"fmt"
	"path"
	"slices"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/ninja"
)

// handlers are the library through which a framework calls exports from C++, without Python: the framework, and the sources.
type handlers struct {
	framework.Framework
	sources []string
}

// withHandlers are the frameworks of a project that have such a library.
func withHandlers(p *opdef.Project) (out []framework.Framework) {
	for _, fw := range framework.All() {
		if fw.Handlers.Template != "" && slices.Contains(p.Manifest.Adaptors, fw.Name) {
			out = append(out, fw)
		}
	}
	return out
}

// handlerFolder holds the headers of a framework's library.
func handlerFolder(fw *framework.Framework) string { return "adaptors/" + fw.Name + "/csrc" }

// handlerFolders hold its sources: those by hand, and the generated one.
func handlerFolders(fw *framework.Framework) []string {
	return []string{handlerFolder(fw), handlerFolder(fw) + "/gen"}
}

// handlerLibrary is where the library lies in the framework's package.
func handlerLibrary(p *opdef.Project, fw *framework.Framework) string {
	name := p.Manifest.Name + "_" + fw.Name
	return "adaptors/" + fw.Name + "/src/" + name + "/lib/lib" + name + ".so"
}

// exports is the prefix of what the library exports.
func (h *handlers) exports() string { return "opcast_" + h.Name + "_" }

// flags are the variable of a build file with the options of its sources.
func (h *handlers) flags() ninja.Var {
	value := "-I" + handlerFolder(&h.Framework) + " " + fmt.Sprintf(system, h.Handlers.Package) + " $ffi"
	if len(h.Handlers.Flags) > 0 {
		value += " " + ninja.Escape(shellWords(h.Handlers.Flags...))
	}
	return ninja.Var{Name: h.flagsName(), Value: value}
}

func (h *handlers) flagsName() string { return h.Name + "_flags" }

// link are the words that link it with libraries of the framework, which lie beside its headers. They depend on others that
// are loaded with them.
func (h *handlers) link() string {
	if len(h.Handlers.Libraries) == 0 {
		return ""
	}
	words := " -L$" + h.Handlers.Package + "/../lib -Wl,--no-as-needed -Wl,--allow-shlib-undefined"
	for _, library := range h.Handlers.Libraries {
		words += " -l" + library
	}
	return words
}

// findHandlers lists the sources of handlers for frameworks that the environment has, and says which were left out.
func findHandlers(o Options) (files, notes []string, err error) {
	for _, fw := range withHandlers(o.Project) {
		if o.Env.Includes[fw.Handlers.Package] == "" {
			notes = append(notes, fmt.Sprintf("the %s adaptor was left out: this environment has no %s\n  run: %s",
				fw.Title, fw.Handlers.Distribution, o.Env.InstallCommand(fw.Handlers.Needs...)))
			continue
		}
		for _, folder := range handlerFolders(&fw) {
			sources, err := tree.Glob(o.Project.Dir, folder+"/*.cc")
			if err != nil {
				return nil, nil, err
			}
			files = append(files, sources...)
		}
	}
	return files, notes, nil
}

// named are what tvm-ffi is called, and what the frameworks of a project that have a library are called by a function.
func (in inputs) named(tvm string, name func(*framework.Handlers) string) []string {
	list := []string{tvm}
	for _, fw := range withHandlers(in.project) {
		list = append(list, name(&fw.Handlers))
	}
	return list
}

// distributions are those that decide what a library is, since it is made of their headers.
func (in inputs) distributions() []string {
	return in.named("apache-tvm-ffi", func(h *framework.Handlers) string { return h.Distribution })
}

// modules are the Python packages with these headers.
func (in inputs) modules() []string {
	return in.named("tvm_ffi", func(h *framework.Handlers) string { return h.Package })
}

// takeHandlers keeps those of the generated and copied files that are sources of handlers.
func (in *inputs) takeHandlers(files []string) {
	in.handlers = nil
	for _, fw := range withHandlers(in.project) {
		h := handlers{Framework: fw}
		for _, f := range files {
			if slices.Contains(handlerFolders(&fw), path.Dir(f)) && slices.Contains(tree.CPPSuffixes, path.Ext(f)) {
				h.sources = append(h.sources, f)
			}
		}
		if len(h.sources) > 0 {
			slices.Sort(h.sources) // the same plan, and so the same build id, wherever the list is from
			in.handlers = append(in.handlers, h)
		}
	}
}

// handlersOf are the handlers that a source belongs to; nil for other sources.
func (in inputs) handlersOf(source string) *handlers {
	for i := range in.handlers {
		if slices.Contains(in.handlers[i].sources, source) {
			return &in.handlers[i]
		}
	}
	return nil
}
