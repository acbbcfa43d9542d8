package framework

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFrameworks(t *testing.T) {
	for _, f := range All() {
		if found, ok := ByName(f.Name); !ok || found.Title != f.Title {
			t.Errorf("ByName(%q) is %v, %v", f.Name, found.Title, ok)
		}
	}
	if diff := cmp.Diff([]string{"torch", "jax", "cupy", "numpy"}, Defaults()); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	if _, ok := ByName("tensorflow"); ok {
		t.Error("found a framework that has no folder")
	}
}

const good = `order = 7
title = "T"
packages = ["t"]
[python]
array = "t.Array"
hint = "Array"
import = "from t import Array"
[stub]
array = "Array"
result = "Array"
dtype = "str"
`

func TestRead(t *testing.T) {
	for _, c := range []struct{ name, folder, text, want string }{
		{"good", "tea", good, ""},
		{"own template", "tea", good + "[ops]\ntemplate = \"pot/templates/op.py.tmpl\"\n", ""},
		{"unknown key", "tea", good + "[ops]\ntempalte = \"x\"\n", "read tea/adaptor.toml: strict mode: fields in the document are missing in the target struct"},
		{"no order", "tea", strings.Replace(good, "order = 7", "", 1), "tea/adaptor.toml: order is 0, expected its place in lists, from 1"},
		{"no title", "tea", strings.Replace(good, `title = "T"`, "", 1), `tea/adaptor.toml: missing key "title"`},
		{"no packages", "tea", strings.Replace(good, `packages = ["t"]`, "", 1), `tea/adaptor.toml: missing key "packages"`},
		{"no hint", "tea", strings.Replace(good, `hint = "Array"`, "", 1), `tea/adaptor.toml: missing key "python.hint"`},
		{"no template", "tea", good + "[layers]\ntemplate = \"tea/templates/layers.py.tmpl\"\n", "tea/adaptor.toml: there is no template tea/templates/layers.py.tmpl"},
		{"bad name", "Tea-pot", good, `Tea-pot/adaptor.toml: the folder "Tea-pot" is no name of a framework: expected lower-case words joined by underscores`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
			all, err := read(fstest.MapFS{
				c.folder + "/adaptor.toml": file(c.text), c.folder + "/templates/op.py.tmpl": file(""), "pot/templates/op.py.tmpl": file(""),
			})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if err == nil && (len(all) != 1 || all[0].Name != c.folder || all[0].Order != 7) {
				t.Errorf("read %+v", all)
			}
		})
	}
}

func TestOwns(t *testing.T) {
	f := Framework{Packages: []string{"tea", "spoon"}, Pins: map[string]string{"teatea": "1"}}
	for name, want := range map[string]bool{
		"tea": true, "tea-cuda13x": true, "teatea": true, "teatea-gpu": true, "spoon": false, "teapot": false, "numpy": false,
	} {
		if f.Owns(name) != want {
			t.Errorf("Owns(%q) is not %v", name, want)
		}
	}
}

func TestOrder(t *testing.T) {
	file := func(order string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Replace(good, "7", order, 1))}
	}
	all, err := read(fstest.MapFS{
		"c/adaptor.toml": file("1"), "b/adaptor.toml": file("2"), "a/adaptor.toml": file("2"),
		"a/templates/op.py.tmpl": file("1"), "b/templates/op.py.tmpl": file("1"), "c/templates/op.py.tmpl": file("1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c", "a", "b"}, names(all)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
