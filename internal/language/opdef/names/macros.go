package names

import (
	_ "embed"
	"slices"
	"strings"
)

// macroText lists the macros of the C++ headers that the runtime and kernels include, as far as a definition could use their names.
// TestMacros compares it with a compiler.
//
//go:embed macros.txt
var macroText string

var macros = strings.Fields(macroText)

// macroPrefixes begin the names of macros of the runtime, and of the headers that generated code includes beside those.
var macroPrefixes = []string{"OPCAST_", "TVM_FFI_", "DLPACK_"}

// IsMacro says whether the preprocessor could replace a name: a macro with parameters is replaced where a parenthesis follows, as
// in the initializer of a member, `offsetof(args.offsetof)`.
func IsMacro(name string) bool {
	_, found := slices.BinarySearch(macros, name)
	return found || slices.ContainsFunc(macroPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
