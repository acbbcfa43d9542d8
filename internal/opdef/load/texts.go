package load

import (
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/diag"
	"github.com/opcast/opcast/internal/opdef/code"
)

// invisible says whether a text may not hold a character: a control character, or one that nobody sees, such as those that
// change the direction of text. They go to comments, docstrings and pages, where they would show something else than what a
// compiler reads, and compilers refuse some of them.
func invisible(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	case '\u200c', '\u200d': // joiners, which words of Persian and pictures of several characters need
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

const invisibleHint = "leave it out"

// texts looks for invisible characters in every string of the definition, and in the Python file beside it.
func (c *checker) texts(module string) {
	c.doc.Texts(func(path, text string) {
		if i := strings.IndexFunc(text, invisible); i >= 0 {
			c.diags.Add(c.doc.In(path, i), code.Invisible, invisibleHint, "%s holds the character %U", path, first(text[i:]))
		}
	})
	// Python takes a form feed for a break between pages.
	if i := strings.IndexFunc(module, func(r rune) bool { return r != '\f' && invisible(r) }); i >= 0 {
		before := module[:i]
		pos := diag.Pos{
			File: strings.TrimSuffix(c.op.File, ".toml") + ".py",
			Line: 1 + strings.Count(before, "\n"), Col: i - strings.LastIndexByte(before, '\n'),
		}
		c.diags.Add(pos, code.Invisible, invisibleHint, "the file holds the character %U", first(module[i:]))
	}
}

// first is the first character of a text.
func first(text string) rune {
	for _, r := range text {
		return r
	}
	return 0
}
