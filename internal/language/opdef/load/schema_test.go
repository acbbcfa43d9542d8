package load_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/raw"
	"github.com/opcast/opcast/internal/testkit/randomop"
)

// TestSchema: the schemas take what the loader takes, which are the repository's files, the right examples of all codes and
// definitions that are made up, and refuse what only the loader's tables of keys, types and words refuse.
func TestSchema(t *testing.T) {
	definition, project := compiled(t, "definition", raw.Schema), compiled(t, "manifest", manifest.Schema)
	files := slices.Concat(glob(t, "../../../../opdefs/*/*.toml"), glob(t, "../../../../*/*/opdefs/*.toml"))
	for _, file := range files {
		expect(t, definition, file, read(t, file), true)
	}
	for _, file := range slices.Concat(glob(t, "../../../../opcast.toml"), glob(t, "../../../../*/*/opcast.toml")) {
		expect(t, project, file, read(t, file), true)
	}
	expect(t, definition, "everything", load.Everything, true)
	for d, i := randomop.New(3, 0), 0; i < 200; i++ {
		for _, op := range d.Next() {
			expect(t, definition, op.Name, op.TOML(), true)
		}
	}
	refused := []string{"E002", "E003", "E004", "E005", "E006", "E011", "E012", "E020", "E033", "E034", "E042", "E048", "E049"}
	for _, e := range code.All() {
		for side, files := range map[string][]code.Example{"wrong": e.Wrong, "right": e.Right} {
			ok := side == "right"
			for _, f := range files {
				switch {
				case !ok && !slices.Contains(refused, e.Code):
				case e.Code == "E048" && f.Name != manifest.File:
				case f.Name == manifest.File:
					expect(t, project, e.Code, f.Text, ok)
				case strings.HasSuffix(f.Name, ".toml"):
					expect(t, definition, e.Code, f.Text, ok)
				}
			}
		}
	}
}

// TestSchemaFiles: docs has the schemas as they are; make gen writes them.
func TestSchemaFiles(t *testing.T) {
	for name, schema := range map[string]func() (map[string]any, error){"definition": raw.Schema, "manifest": manifest.Schema} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		values, err := schema()
		if err == nil {
			err = enc.Encode(values)
		}
		if err != nil {
			t.Fatal(err)
		}
		file := "../../../../docs/" + name + ".schema.json"
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, want.Bytes()) {
			t.Errorf("%s is not what the loader gives (%v); run make gen", file, err)
		}
	}
}

func compiled(t *testing.T, name string, schema func() (map[string]any, error)) *jsonschema.Schema {
	t.Helper()
	values, err := schema()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(values)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	out, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// expect validates a TOML text as an editor does.
func expect(t *testing.T, schema *jsonschema.Schema, name, text string, ok bool) {
	t.Helper()
	var values map[string]any
	if err := toml.Unmarshal([]byte(text), &values); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	data, err := json.Marshal(values)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); (err == nil) != ok {
		t.Errorf("%s: valid is %v, expected %v: %v", name, err == nil, ok, err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	return files
}
