package names

import "unicode"

// Invisible says whether a text may not hold a character: a control character, or one that nobody sees, such as those that
// change the direction of text. They go to comments, docstrings and pages, where they would show something else than what a
// compiler reads, and compilers refuse some of them.
func Invisible(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	case '\u200c', '\u200d': // joiners, which words of Persian and pictures of several characters need
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
