package load

import (
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/names"
)

// texts looks for invisible characters in every string of the definition, and in the Python file beside it.
func (c *checker) texts(module string) {
	c.doc.Texts(func(path, text string) {
		if i := strings.IndexFunc(text, names.Invisible); i >= 0 {
			c.diags.Add(c.doc.In(path, i), code.Invisible, "leave it out", "%s holds the character %U", path, []rune(text[i:])[0])
		}
	})
	// Python takes a form feed for a break between pages.
	if i := strings.IndexFunc(module, func(r rune) bool { return r != '\f' && names.Invisible(r) }); i >= 0 {
		before := module[:i]
		pos := diag.Pos{
			File: strings.TrimSuffix(c.op.File, ".toml") + ".py",
			Line: 1 + strings.Count(before, "\n"), Col: i - strings.LastIndexByte(before, '\n'),
		}
		c.diags.Add(pos, code.Invisible, "leave it out", "the file holds the character %U", []rune(module[i:])[0])
	}
}
