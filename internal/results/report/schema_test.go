package report_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

var docs = filepath.Join("..", "..", "..", "docs")

// structs are the types of a report, the report itself first.
func structs() []reflect.Type {
	list := []reflect.Type{reflect.TypeFor[report.Report]()}
	for i := 0; i < len(list); i++ {
		for _, f := range reflect.VisibleFields(list[i]) {
			part := f.Type
			for part.Kind() == reflect.Slice || part.Kind() == reflect.Pointer {
				part = part.Elem()
			}
			if part.Kind() == reflect.Struct && !slices.Contains(list, part) {
				list = append(list, part)
			}
		}
	}
	return list
}

// tag is the name of a field in JSON, and whether it may be absent.
func tag(f reflect.StructField) (name string, optional bool) {
	name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, rest != ""
}

// The documentation has every field of every type, and no other.
func TestFieldsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(docs, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|")
	word := regexp.MustCompile("`([a-z0-9_]+)`")
	for _, kind := range structs() {
		_, section, found := strings.Cut(string(text), "### "+kind.Name()+"\n")
		if !found {
			t.Errorf("docs/report.md has no section %q", kind.Name())
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		have := map[string]bool{}
		for _, line := range row.FindAllStringSubmatch(section, -1) {
			for _, name := range word.FindAllStringSubmatch(line[1], -1) {
				have[name[1]] = true
			}
		}
		for _, f := range reflect.VisibleFields(kind) {
			name, _ := tag(f)
			if !have[name] {
				t.Errorf("docs/report.md, %s: the field %q is missing", kind.Name(), name)
			}
			delete(have, name)
		}
		for name := range have {
			t.Errorf("docs/report.md, %s: there is no field %q", kind.Name(), name)
		}
	}
}

// schemaOf is the JSON schema of a type.
func schemaOf(kind reflect.Type) map[string]any {
	switch kind.Kind() {
	case reflect.Pointer:
		return schemaOf(kind.Elem())
	case reflect.Slice:
		// A list that is nil is null.
		return map[string]any{"type": []string{"array", "null"}, "items": schemaOf(kind.Elem())}
	case reflect.Map:
		return map[string]any{"type": []string{"object", "null"}, "additionalProperties": schemaOf(kind.Elem())}
	case reflect.Struct:
		return map[string]any{"$ref": "#/$defs/" + kind.Name()}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return map[string]any{"type": "integer"}
	case reflect.String:
		if kind == reflect.TypeFor[report.Status]() {
			return map[string]any{"enum": []report.Status{report.Pass, report.Fail, report.Error, report.Skip, report.Unsupported}}
		}
		return map[string]any{"type": "string"}
	}
	panic("report: a field of the kind " + kind.String())
}

// docs/report.schema.json is made from the types. UPDATE=1 rewrites it.
func TestSchemaIsFresh(t *testing.T) {
	defs := map[string]any{}
	for _, kind := range structs() {
		properties, required := map[string]any{}, []string{}
		for _, f := range reflect.VisibleFields(kind) {
			name, optional := tag(f)
			properties[name] = schemaOf(f.Type)
			if !optional {
				required = append(required, name)
			}
		}
		defs[kind.Name()] = map[string]any{
			"type": "object", "properties": properties, "required": required, "additionalProperties": false,
		}
	}
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "report.json of opcast test",
		"$ref": "#/$defs/Report", "$defs": defs,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(docs, "report.schema.json")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(path); err != nil || !bytes.Equal(have, want.Bytes()) {
		t.Errorf("%s is not what the types give (%v); UPDATE=1 rewrites it", path, err)
	}
}
