package gen

import (
	"slices"
	"strings"
)

// dropUnused removes assignments to names that no other line reads, such as the size of a dim that stands alone. What
// is computed has no effect, unless a function of _r refuses it: then only the name is dropped, where that is possible.
func dropUnused(lines []string) []string {
	for before := -1; before != len(lines); {
		before = len(lines)
		read := map[string]bool{}
		for _, l := range lines {
			for _, name := range identifiers(l[len(targets(l)):]) {
				read[name] = true
			}
		}
		kept := lines[:0:0]
		for _, l := range lines {
			if l = withoutTargets(l, read); l != "" {
				kept = append(kept, l)
			}
		}
		lines = kept
	}
	return lines
}

// targets is the part of a line that assigns: "    T_ = x_t = ".
func targets(line string) string {
	end := 0
	for {
		i := strings.Index(line[end:], " = ")
		if i < 0 || len(identifiers(line[end:end+i])) != 1 || strings.ContainsAny(line[end:end+i], "(:,.") {
			return line[:end]
		}
		end += i + len(" = ")
	}
}

// withoutTargets drops the names that nothing reads; a line that then has no purpose becomes empty.
func withoutTargets(line string, read map[string]bool) string {
	names := identifiers(targets(line))
	if len(names) == 0 || !slices.ContainsFunc(names, func(n string) bool { return !read[n] }) {
		return line
	}
	by := line[:len(line)-len(strings.TrimLeft(line, " "))]
	value := line[len(targets(line)):]
	kept := slices.DeleteFunc(names, func(n string) bool { return !read[n] })
	switch {
	case len(kept) > 0:
		return by + strings.Join(kept, " = ") + " = " + value
	case strings.HasPrefix(value, "_r."):
		return by + value
	case strings.Contains(value, "_r."):
		return line
	}
	return ""
}
