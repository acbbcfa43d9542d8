package load

import (
	"path"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/projectfs"
)

// tuned reads the files of measured parameters. Whether rows fit the definitions is no matter of right and wrong, so that
// definitions may change before somebody measures again.
func tuned(p *opdef.Project, t *projectfs.Tree, diags *diag.List) {
	for _, file := range t.Files(opdef.TunedDir + "/*.json") {
		start := diag.Pos{File: file, Line: 1, Col: 1}
		text, err := t.ReadLarge(file)
		if err != nil {
			diags.Add(start, code.File, "", "%s", err)
			continue
		}
		one, err := opdef.ParseTuned(text)
		if err != nil {
			diags.Add(start, code.Tuned, "", "%s", err)
			continue
		}
		if opdef.ArchDevice(one.Arch) == "" || one.Arch != strings.TrimSuffix(path.Base(file), ".json") {
			diags.Add(start, code.Tuned, "the file is named like the architecture: avx2.json, sm_90.json", "%q is no architecture, or not that of the file's name", one.Arch)
			continue
		}
		p.Tuned = append(p.Tuned, *one)
	}
}
