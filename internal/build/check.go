package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

// check looks at the linked libraries: a library may export its entry points only and must find every other symbol in
// the system's libraries or in libtvm_ffi. The libraries lie where the function says. The newer symbols are those that the system
// has and the old one, for which a portable library is linked, lacks.
func check(o Options, newer []string, libraries []library, where func(library) string) (diag.List, error) {
	host, err := elfcheck.Read(o.Env.TVMLibrary)
	if err != nil {
		return nil, err
	}
	manifest := o.Project.Manifest
	var findings diag.List
	for _, l := range libraries {
		policy := elfcheck.Policy{Provided: host.Exports, Linked: elfcheck.Linked(manifest.Link), Families: l.families}
		policy.Linked = append(policy.Linked, l.beside...)
		lib, err := elfcheck.Read(tree.Local(o.Project.Dir, where(l)))
		if err != nil {
			return nil, err
		}
		policy.ExportPrefixes = l.exports
		if o.Sanitizer != nil {
			if err := o.Sanitizer.allow(&policy); err != nil {
				return nil, err
			}
		}
		if o.Portable {
			policy.Standard = elfcheck.FindStandard(standard)
		}
		violations := lib.Check(policy)
		violations.Undefined = slices.DeleteFunc(violations.Undefined, func(name string) bool {
			_, isNew := slices.BinarySearch(newer, name)
			if isNew {
				violations.New = append(violations.New, name)
			}
			return isNew
		})
		report(o.Project, l, violations, &findings)
	}
	return findings, nil
}

func report(p *opdef.Project, l library, violations elfcheck.Violations, findings *diag.List) {
	manifest := diag.Pos{File: "opcast.toml"}
	for _, name := range violations.Exports {
		findings.Add(manifest, code.Exported, "give it internal linkage or hidden visibility",
			"%s exports %s, but only %s* may be seen outside", l.name, elfcheck.Demangle(name), strings.Join(l.exports, "* and "))
	}
	for _, library := range violations.Needed {
		findings.Add(manifest, code.Needed, "name it in link if users have it, or link it statically",
			"%s needs %s, which is no system library", l.name, library)
	}
	for _, symbol := range violations.New {
		findings.Add(manifest, code.TooNew, "use something older, or bring a definition of your own",
			"%s uses %s, which %s lacks", l.name, symbol, standard)
	}
	for _, symbol := range violations.Undefined {
		name := elfcheck.Demangle(symbol)
		if op, kernel, ok := kernelOf(p, name); ok {
			findings.Add(kernelPos(op, kernel), code.NoKernel,
				fmt.Sprintf("define %s as backend/gen/%s.gen.h declares it, in a file that sources match", name, op.Name),
				"kernel %s (%s) is declared but no source defines it", name, kernel.Name)
			continue
		}
		findings.Add(manifest, code.Undefined, "define it, or name its library in link; kernels may use no Python and no framework",
			"%s uses %s, but no source and no library defines it", l.name, name)
	}
}

// kernelOf finds the kernel that has a function of the given qualified name.
func kernelOf(p *opdef.Project, name string) (op *opdef.Op, kernel opdef.Kernel, ok bool) {
	function, ok := strings.CutPrefix(name, p.Manifest.CPPNamespace()+"::")
	if !ok {
		return nil, kernel, false
	}
	for _, op := range p.Ops {
		for _, k := range op.KernelList() {
			if slices.Contains(k.Functions(), function) {
				return op, k, true
			}
		}
	}
	return nil, kernel, false
}

// kernelPos is where the kernel is declared; a definition that lists none declares one by existing.
func kernelPos(op *opdef.Op, kernel opdef.Kernel) diag.Pos {
	i := slices.IndexFunc(op.Kernels, func(k opdef.Kernel) bool { return k.Name == kernel.Name })
	if pos, ok := op.Pos[fmt.Sprintf("kernels[%d].name", i)]; ok {
		return pos
	}
	return diag.Pos{File: op.File, Line: 1, Col: 1}
}
