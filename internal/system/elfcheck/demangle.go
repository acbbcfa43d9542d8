package elfcheck

import (
	"strconv"
	"strings"
)

// Demangle returns the qualified name in a mangled C++ function ("_ZN3ops7RmsNormERK…" is ops::RmsNorm), without its
// parameters. Whatever it cannot read, templates and operators among it, comes back as it is.
func Demangle(symbol string) string {
	rest, nested := strings.CutPrefix(symbol, "_ZN")
	if !nested {
		var ok bool
		if rest, ok = strings.CutPrefix(symbol, "_Z"); !ok {
			return symbol
		}
	}
	var parts []string
	for {
		part, tail, ok := sourceName(rest)
		if !ok {
			break
		}
		parts, rest = append(parts, part), tail
		if !nested {
			break
		}
	}
	if parts == nil || nested && !strings.HasPrefix(rest, "E") {
		return symbol
	}
	return strings.Join(parts, "::")
}

// sourceName reads a length and as many characters.
func sourceName(s string) (name, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n == 0 || n > len(s)-digits {
		return "", "", false
	}
	return s[digits : digits+n], s[digits+n:], true
}
