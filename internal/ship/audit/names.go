package audit

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

// longest is the number of characters of a name that are shown.
const longest = 200

// shown is a name of a file or of a symbol as it may be printed. Whoever made the file has chosen it.
func shown(name string) string {
	text := []rune(diag.Printable(name[:min(len(name), 4*longest)]))
	if len(text) <= longest {
		return string(text)
	}
	return string(text[:longest]) + "…"
}

// listed is a list of names as they may be shown, never null in JSON.
func listed(list []string) []string {
	names := []string{}
	for _, name := range list {
		names = append(names, shown(name))
	}
	return names
}

// some are the first symbols of a list, and how many there are.
func some(symbols []string) string {
	const few = 3
	if len(symbols) == 0 {
		return "no symbol"
	}
	var names []string
	for _, s := range symbols[:min(few, len(symbols))] {
		names = append(names, shown(elfcheck.Demangle(s)))
	}
	text := strings.Join(names, ", ")
	if len(symbols) > few {
		text += fmt.Sprintf(" and %d more", len(symbols)-few)
	}
	return text
}

func begins(name string) func(string) bool {
	return func(prefix string) bool { return strings.HasPrefix(name, prefix) }
}

// fromOrigin is the rest of a folder that is named from that of the library itself.
func fromOrigin(folder string) (rest string, ok bool) {
	for _, word := range []string{"$ORIGIN", "${ORIGIN}"} {
		if rest, ok = strings.CutPrefix(folder, word); ok && (rest == "" || rest[0] == '/') {
			return rest, true
		}
	}
	return "", false
}

// reached says whether the search of a library in a folder comes to one of others.
func reached(folder string, search, others []string) bool {
	return slices.ContainsFunc(search, func(s string) bool {
		rest, ok := fromOrigin(s)
		return ok && slices.Contains(others, path.Join(folder, rest))
	})
}

// origin names a folder from another one.
func origin(folder, other string) string {
	rel, err := filepath.Rel("/"+folder, "/"+other)
	if err != nil || rel == "." {
		return "$ORIGIN"
	}
	return "$ORIGIN/" + shown(filepath.ToSlash(rel))
}
