package rule

import (
	"fmt"
	"math"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
)

// Long turns short dtype names into long ones.
func Long(short []string) []string {
	out := make([]string, len(short))
	for i, s := range short {
		d, _ := dtype.Lookup(s)
		out[i] = d.Long
	}
	return out
}

// Or joins names as "a, b or c".
func Or(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Quoted joins strings as "'a', 'b', 'c'".
func Quoted(names []string) string {
	return "'" + strings.Join(names, "', '") + "'"
}

// Number formats a limit or value as C's %g does for floats; the other two printers do the same.
func Number(v any) string {
	switch n := v.(type) {
	case float64:
		if math.IsInf(n, 0) {
			return strings.ToLower(strings.TrimPrefix(fmt.Sprint(n), "+")) // as C and Python write it
		}
		return fmt.Sprintf("%.6g", n)
	case float32:
		return fmt.Sprintf("%.6g", float64(n))
	}
	return fmt.Sprint(v)
}

// List formats sizes as "[2, 3]".
func List(sizes []int64) string {
	return "[" + strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", ", "), "[]") + "]"
}
