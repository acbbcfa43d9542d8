package opdef

import (
	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef/code"
	"github.com/opcast/opcast/internal/opdef/tomldoc"
)

// Unsupported lists what a definition says that the language has and the generator does not handle yet. Load reports it, so
// that whatever it accepts can be generated; definitions of a library that was made by hand may use all of the language.
func Unsupported(op *Op) (list diag.List) {
	report := func(path, what string) {
		list.Add(op.Pos[path], code.Unsupported, "leave it out; the emitters for it are not written yet", "%s: %s is not generated yet", op.Name, what)
	}
	for i := range op.Inputs {
		path := tomldoc.Element("inputs", i)
		if op.Inputs[i].List {
			report(path, "a list input")
		}
	}
	return list
}
