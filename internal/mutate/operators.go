package mutate

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed operators/*.toml
var operatorFiles embed.FS

// generated is the folder of the C++ that Schemata rewrites.
const generated = "backend/gen/"

// Operators lists the operators that are over the generated C++, or those over Python, in the order of their files.
func Operators(cpp bool) ([]*Operator, error) {
	files, err := fs.Glob(operatorFiles, "operators/*.toml")
	if err != nil {
		return nil, fmt.Errorf("operators: %w", err)
	}
	var out []*Operator
	for _, name := range files {
		text, err := operatorFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("operators: %w", err)
		}
		var file struct {
			Operator []*Operator `toml:"operator"`
		}
		dec := toml.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, o := range file.Operator {
			if strings.HasPrefix(o.Files, generated) == cpp {
				out = append(out, o)
			}
		}
	}
	return out, nil
}
