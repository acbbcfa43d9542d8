package mutate

import (
	_ "embed"
	"strconv"
	"strings"
)

// HeaderName is the file that the text of Schemata includes.
const HeaderName = "mutant.h"

//go:embed mutant.h.txt
var header string

// Header is the content of that file. The number of the mutant that is on stands, as a 32-bit integer, at the beginning
// of the file at path: every process that has the library sees a change at once, and a process that starts again, too.
func Header(path string) string { return strings.ReplaceAll(header, `"@PATH@"`, strconv.Quote(path)) }
