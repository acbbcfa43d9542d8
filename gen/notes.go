package gen

import (
	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// Notes are what is no mistake, but has consequences that its author may not expect.
func Notes(p *opdef.Project) (list diag.List) {
	for _, name := range p.Manifest.Adaptors {
		if fw, ok := framework.ByName(name); ok && fw.Narrow != "" {
			list = append(list, opdef.WideNotes(p, fw.Title+" without "+fw.Narrow)...)
		}
	}
	return append(append(list, opdef.LSENotes(p)...), opdef.TunedNotes(p)...)
}
