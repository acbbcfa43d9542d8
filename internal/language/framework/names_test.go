package framework

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// named are the places in which the tool may name a framework, and why.
var named = map[string]string{
	"gen/internal/python/python.go":             "views of ops that adaptor.toml chooses from",
	"conformance/internal/testkit/fake/fake.go": "a framework of the tests, which stands for others by their names",
	"internal/build/pyenv/missing.go":           "the tool computes with NumPy itself",
	"internal/build/cost/seconds.go":            "what the import of the backend takes is told beyond NumPy, which every framework but one brings along",
	"cmd/opcast/internal/judge/suite.go":        "the tool computes with NumPy itself",
	"cmd/opcast/internal/author/runreport.go":   "the tool computes with NumPy itself",
}

// A framework is a folder of adaptors: nothing in the tool asks for it by name.
func TestNoFrameworkByName(t *testing.T) {
	names, used := Names(), map[string]bool{}
	for _, top := range []string{"gen", "internal", "conformance", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../../..", top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			short, _ := filepath.Rel("../../..", file) // the walk begins there
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				literal, ok := n.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					return true
				}
				text, _ := strconv.Unquote(literal.Value)
				switch {
				case !slices.Contains(names, text):
				case named[short] == "":
					t.Errorf("%s names the framework %s: let adaptor.toml or the worker's abilities say what it is about", short, text)
				default:
					used[short] = true
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for file := range named {
		if !used[file] {
			t.Errorf("%s names no framework any more: take it off the list", file)
		}
	}
}
