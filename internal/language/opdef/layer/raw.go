// Package layer reads what definitions say about layers: which modules of frameworks an op stands for, where these have the
// op's arguments, and which of their settings it honours.
package layer

// Raw is a layer as a definition writes it.
type Raw struct {
	Name, Module   string
	Classes        []string
	Reads          map[string][]string
	Values, Absent map[string]any
	Expects        map[string]any
	Ignores        []string
	Rows, Trailing string
	Joins          []string
	Then           string
}
