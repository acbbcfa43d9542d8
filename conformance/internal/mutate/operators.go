package mutate

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/opcast/opcast/internal/language/tomlfmt"

	"github.com/opcast/opcast/adaptors"
)

// shared holds the operators over what every collection has: the generated C++, the rules in Python, and the functions of
// all frameworks alike. The operators about one framework lie in its own folder.
//
//go:embed operators/*.toml
var shared embed.FS

// generated is the folder of the C++ that Schemata rewrites.
const generated = "backend/gen/"

// Operators lists the operators over the generated C++, or those over Python, in the order of their files: the shared ones
// first, then those of each framework.
func Operators(cpp bool) ([]*Operator, error) {
	var out []*Operator
	for _, source := range []struct {
		files embed.FS
		glob  string
	}{{shared, "operators/*.toml"}, {adaptors.FS, "*/mutants.toml"}} {
		names, err := fs.Glob(source.files, source.glob)
		if err != nil {
			return nil, fmt.Errorf("operators: %w", err)
		}
		for _, name := range names {
			list, err := read(source.files, name)
			if err != nil {
				return nil, err
			}
			for _, o := range list {
				if strings.HasPrefix(o.Files, generated) == cpp {
					out = append(out, o)
				}
			}
		}
	}
	return out, nil
}

// read reads one file of operators.
func read(files fs.FS, name string) ([]*Operator, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("operators: %w", err)
	}
	var file struct {
		Operator []*Operator `toml:"operator"`
	}
	if err := tomlfmt.ReadStrictly(text, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return file.Operator, nil
}
