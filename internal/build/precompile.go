package build

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/system/ninja"
)

// leastSharing is the number of units for which compiling a header ahead pays: it takes a second, and saves each unit a
// part of that.
const leastSharing = 6

// header is a file that units include before anything else, so that a compiler need not read it again for each of them.
// The name is that which the units give it.
type header struct{ name, file, flags string }

// precompile adds to a build file the headers that many of its units include first, and returns the files that these need,
// by their paths. GCC takes the compiled form where it finds it in a folder before the header's own; what comes out is the
// same. Clang takes none that a command line does not name.
func (p *plan) precompile(file *ninja.File, folder string, units []unit) (files map[string]string) {
	if p.in.compiler.Clang || p.in.compiler.Cached() {
		return nil
	}
	sharing := map[header][]string{}
	for _, u := range units {
		if h, ok := p.in.firstHeader(u); ok {
			sharing[h] = append(sharing[h], p.within(folder, u.object))
		}
	}
	maps.DeleteFunc(sharing, func(_ header, objects []string) bool { return len(objects) < leastSharing })
	shared := slices.SortedFunc(maps.Keys(sharing), func(a, b header) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.flags, b.flags))
	})
	files = map[string]string{}
	for i, h := range shared {
		dir := path.Join(folder, fmt.Sprint("headers", i))
		compiled, including := path.Join(dir, h.name+".gch"), dir+".h"
		files[including] = `#include "` + h.name + "\"\n" // alone, a header would be warned about for its "#pragma once"
		// Where a unit includes the header again, by way of another one, GCC takes the compiled form for no sign that there is
		// none, and wants a file beside it.
		files[path.Join(dir, h.name)] = `#include "` + upFrom(path.Dir(path.Join(dir, h.name))) + h.file + "\"\n"
		for j := range file.Builds {
			if b := &file.Builds[j]; slices.Contains(sharing[h], b.Outputs[0]) {
				// Without -fpch-deps, nobody would know what was in the header.
				b.Implicit, b.Vars = []string{compiled}, []ninja.Var{{Name: "flags", Value: "-I" + dir + " -fpch-deps " + h.flags}}
			}
		}
		file.Builds = append(file.Builds, ninja.Build{
			Outputs: []string{compiled}, Rule: "compile", Inputs: []string{including},
			Vars: []ninja.Var{{Name: "flags", Value: h.flags + " -x c++-header"}, {Name: "description", Value: "compile " + ninja.Escape(h.file)}},
		})
	}
	return files
}

// upFrom leads from a folder of the project to the project.
func upFrom(folder string) string { return strings.Repeat("../", strings.Count(folder, "/")+1) }

// blank is what may stand before a unit's first directive, without a meaning.
const blank = `(?:\s|//[^\n]*\n|/\*(?s:.*?)\*/)*`

var firstInclude = regexp.MustCompile(`^` + blank + `#\s*include\s*"([^"\n]+)"`)

// firstHeader is the header that a unit includes first, if it is found in a folder of the command line, as others can be
// put before that.
func (in inputs) firstHeader(u unit) (header, bool) {
	text, err := in.source(u.source)
	if err != nil || forGPU(u.source) {
		return header{}, false
	}
	m := firstInclude.FindSubmatch(text)
	if m == nil || !filepath.IsLocal(string(m[1])) {
		return header{}, false
	}
	name := string(m[1])
	if tree.IsRegular(tree.Local(in.project.Dir, path.Join(path.Dir(u.source), name))) {
		return header{}, false
	}
	for _, flag := range in.projectFlags() {
		if file := path.Join(flag[1], name); flag[0] == "-I" && tree.IsRegular(tree.Local(in.project.Dir, file)) {
			return header{name, file, u.flags}, true
		}
	}
	return header{}, false
}
