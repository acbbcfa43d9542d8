// Package stub says what a package is to type checkers beyond its functions: the types of arrays and of attributes, and what
// the stub imports and declares for them.
package stub

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
)

// element is what adaptor.toml writes where the type of an array names that of its elements.
const element = "{dtype}"

// Array is the type of an argument or result, from that of arrays in adaptor.toml. A dtype variable of the definition becomes
// one of the type checker, so that it knows which dtype a result has.
func Array(pattern string, op *opdef.Op, a *opdef.Arg) string {
	if !strings.Contains(pattern, element) {
		return pattern
	}
	return strings.ReplaceAll(pattern, element, scalar(op, &a.Type))
}

func scalar(op *opdef.Op, t *opdef.Type) string {
	if t.Var == "" {
		if d, _ := dtype.Lookup(t.DType); d.View == "" {
			return "np." + d.Long
		}
		return "Any" // ml_dtypes has no types for its dtypes
	}
	has := func(a opdef.Arg) bool { return a.Type.Var == t.Var }
	all := slices.Concat(op.Inputs, op.Results())
	if first := slices.IndexFunc(all, has); first >= len(op.Inputs) || !slices.ContainsFunc(all[first+1:], has) {
		return "Any" // an attribute says which, or nothing follows from it
	}
	return variable(t.Var)
}

func variable(name string) string { return "_" + name }

// Values are the words or numbers that an attribute may be, as Python writes them; none where the definition lists none.
func Values(a *opdef.Attr) []string {
	values := a.Decimals()
	for _, word := range a.OneOf {
		values = append(values, strconv.Quote(word))
	}
	return values
}

// Literal is the type of such a value; "" where any will do.
func Literal(a *opdef.Attr) string {
	values := Values(a)
	if len(values) == 0 {
		return ""
	}
	return "Literal[" + strings.Join(values, ", ") + "]"
}

// Variables are the declarations of the type variables that stubs name, in order. Every dtype can be one: type checkers do not
// tell those of ml_dtypes apart.
func Variables(ops []*opdef.Op, text string) []string {
	var out []string
	for _, op := range ops {
		for _, d := range op.DTypes {
			name := variable(d.Name)
			if strings.Contains(text, "["+name+"]") {
				out = append(out, fmt.Sprintf("%s = TypeVar(%q, bound=np.generic)", name, name))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Imports are the lines before them, in ruff's order: the standard library, an empty line, all others by module.
//
//	text   the stubs of the functions and the variables
//	own    lines that are always there
func Imports(fw framework.Stub, text string, own []string) []string {
	uses := func(word string) bool { return strings.Contains(text, word) }
	var standard, others []string
	if uses("Sequence[") {
		standard = append(standard, "from collections.abc import Sequence")
	}
	typing := []string{"Any", "Literal[", "TypeVar("}
	if typing = slices.DeleteFunc(typing, func(word string) bool { return !uses(word) }); len(typing) > 0 {
		standard = append(standard, "from typing import "+strings.NewReplacer("[", "", "(", "").Replace(strings.Join(typing, ", ")))
	}
	for _, line := range fw.Imports {
		from, names, _ := strings.Cut(line, " import ")
		if module, whole := strings.CutPrefix(line, "import "); whole {
			if uses(module[strings.LastIndex(module, " ")+1:] + ".") {
				others = append(others, line)
			}
			continue
		}
		used := slices.DeleteFunc(strings.Split(names, ", "), func(name string) bool { return !uses(name) })
		if len(used) > 0 {
			others = append(others, from+" import "+strings.Join(used, ", "))
		}
	}
	others = append(others, own...)
	slices.SortStableFunc(others, byModule)
	if len(standard) > 0 {
		standard = append(standard, "")
	}
	return append(standard, others...)
}

// byModule puts whole modules first.
func byModule(a, b string) int {
	if whole := strings.HasPrefix(a, "import "); whole != strings.HasPrefix(b, "import ") {
		if whole {
			return -1
		}
		return 1
	}
	return cmp.Compare(strings.Fields(a)[1], strings.Fields(b)[1])
}
