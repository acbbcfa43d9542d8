package tomldoc

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Rules are what a JSON Schema says of keys beside their types, by path: "inputs[].stride", "dtypes.*[]", "" for the file.
type Rules map[string]map[string]any

// Schema is the JSON Schema of the files that Decode reads into a struct of the given type: the same keys, and the same types
// of values. A rule for a path that there is not is an error.
func Schema(target reflect.Type, title string, rules Rules) (map[string]any, error) {
	left := maps.Clone(rules)
	schema := schemaOf(target, "", left)
	if len(left) > 0 {
		return nil, fmt.Errorf("rules for keys that do not exist: %q", slices.Sorted(maps.Keys(left)))
	}
	schema["$schema"], schema["title"] = "http://json-schema.org/draft-07/schema#", title // the newest that editors of TOML know
	return schema, nil
}

// schemaOf describes a type, and takes the rules that it uses.
func schemaOf(t reflect.Type, path string, left Rules) map[string]any {
	schema := map[string]any{}
	switch t.Kind() {
	case reflect.Pointer:
		schema = schemaOf(t.Elem(), path, left)
	case reflect.String:
		schema["type"] = "string"
	case reflect.Int:
		schema["type"] = "integer"
	case reflect.Bool:
		schema["type"] = "boolean"
	case reflect.Float64:
		schema["type"] = "number"
	case reflect.Slice:
		schema["type"], schema["items"] = "array", schemaOf(t.Elem(), path+"[]", left)
	case reflect.Map:
		schema["type"], schema["additionalProperties"] = "object", schemaOf(t.Elem(), strings.TrimPrefix(path+".*", "."), left)
	case reflect.Struct:
		properties := map[string]any{}
		for i, name := range fieldNames(t) {
			properties[name] = schemaOf(t.Field(i).Type, strings.TrimPrefix(path+"."+name, "."), left)
		}
		schema["type"], schema["properties"], schema["additionalProperties"] = "object", properties, false
	}
	maps.Copy(schema, left[path])
	delete(left, path)
	return schema
}
