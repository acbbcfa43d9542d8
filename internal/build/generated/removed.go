package generated

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// opTable is the generated list of the ops with their kinds, which tells what ops there were.
func opTable(p *opdef.Project) string {
	return p.GeneratedModule("ops")
}

// member is a line of the generated enumeration: "    Conv2d = 3". entry tells the name of the op that has it.
var (
	member = regexp.MustCompile(`(?m)^    ([A-Za-z][A-Za-z0-9]*) = ([0-9]+)$`)
	entry  = regexp.MustCompile(`(?m)^        name="([a-z0-9_]+)",\n        kind=OpKind\.([A-Za-z0-9]+),$`)
)

// retiredKey is where the manifest lists kinds of removed ops.
var retiredKey = regexp.MustCompile(`(?m)^retired\b`)

// Removed finds the kinds of ops that were generated and have no definition any more. A later op must not get such a number,
// since callers and recorded calls name ops by it: the manifest has to retire it.
func Removed(p *opdef.Project) (out diag.List) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil // whoever writes there says so
	}
	text, err := fs.ReadFile(root.FS(), opTable(p))
	if errors.Join(err, root.Close()) != nil {
		return nil // nothing was generated yet
	}
	_, kinds, _ := strings.Cut(string(text), "class OpKind(")
	kinds, _, _ = strings.Cut(kinds, "\nclass ")
	ops := map[string]string{}
	for _, m := range entry.FindAllStringSubmatch(string(text), -1) {
		ops[m[2]] = m[1]
	}
	var gone []int
	var names []string
	for _, m := range member.FindAllStringSubmatch(kinds, -1) {
		kind, err := strconv.Atoi(m[2])
		used := slices.ContainsFunc(p.Ops, func(op *opdef.Op) bool { return op.Kind == kind })
		if err != nil || used || slices.Contains(p.Manifest.Retired, kind) {
			continue
		}
		name := cmp.Or(ops[m[1]], m[1])
		if i := slices.IndexFunc(p.Ops, func(op *opdef.Op) bool { return op.Name == name }); i >= 0 {
			out.Add(place(p), code.Retired, advice(p, kind), "kind %d was that of %s, which has kind %d now", kind, name, p.Ops[i].Kind)
			continue
		}
		gone, names = append(gone, kind), append(names, name)
	}
	switch {
	case len(gone) == 1:
		out.Add(place(p), code.Retired, advice(p, gone...), "kind %d was that of %s, which has no definition any more", gone[0], names[0])
	case len(gone) > 1:
		out.Add(place(p), code.Retired, advice(p, gone...),
			"kinds %s were those of %s, which have no definition any more", listed(gone), strings.Join(names, ", "))
	}
	return out
}

func listed(kinds []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(kinds), "[]"), " ", ", ")
}

// advice says how to retire kinds.
func advice(p *opdef.Project, kinds ...int) string {
	list := append(slices.Clone(p.Manifest.Retired), kinds...)
	return fmt.Sprintf("add retired = [%s] to %s, so that no other op gets the number; if nobody has used it yet, remove %s instead",
		listed(list), manifest.File, opTable(p))
}

// place is where the manifest lists retired kinds, or should.
func place(p *opdef.Project) diag.Pos {
	at := diag.Pos{File: manifest.File, Line: 1, Col: 1}
	if found := retiredKey.FindIndex(p.ManifestText); found != nil {
		at.Line += strings.Count(string(p.ManifestText[:found[0]]), "\n")
	}
	return at
}
