package opdef

import "strings"

// Defines says whether the Python file beside the definition defines a function.
func (o *Op) Defines(function string) bool {
	return strings.Contains("\n"+o.Module, "\ndef "+function+"(")
}
