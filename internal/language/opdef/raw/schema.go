package raw

import (
	"reflect"
	"slices"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Schema is the JSON Schema of a definition: the keys and types that the loader reads, and its tables of words.
func Schema() (map[string]any, error) {
	argument := map[string]any{"required": []string{"name", "type", "doc"}}
	number := map[string]any{"type": []string{"number", "string"}}
	words := map[string]any{"type": []string{"string", "array"}, "items": map[string]any{"type": "string"}}
	plain := slices.DeleteFunc(slices.Clone(AttrTypes), func(t string) bool { return t[len(t)-1] == ']' })
	return tomldoc.Schema(reflect.TypeFor[Op](), "definition of an op", tomldoc.Rules{
		"":                  {"required": []string{"doc", "kind"}},
		"kind":              {"minimum": 0, "maximum": manifest.MaxKind},
		"dtypes.*":          {"minItems": 1, "uniqueItems": true},
		"dtypes.*[]":        {"enum": inCPP()},
		"inputs[].stride":   {"enum": Strides},
		"inputs[].contents": {"const": Unchecked},
		"inputs[].packs":    {"enum": Packed()}, "outputs[].packs": {"enum": Packed()},
		"inputs[].min":  number,
		"inputs[].max":  number,
		"outputs[].min": number, "outputs[].max": number, "scratch[].min": number, "scratch[].max": number,
		"inputs[].lse":  {"required": []string{"base", "empty"}},
		"outputs[].lse": {"required": []string{"base", "empty"}},
		"inputs[]":      argument, "outputs[]": argument,
		"scratch[]":      {"required": []string{"name", "type"}},
		"attrs[]":        argument,
		"attrs[].type":   {"anyOf": []any{map[string]any{"enum": plain}, map[string]any{"pattern": IntListPattern.String()}}},
		"attrs[].min":    {"type": "number"},
		"attrs[].max":    {"type": "number"},
		"attrs[].one_of": {"minItems": 1, "uniqueItems": true}, "attrs[].one_of[]": {"type": []string{"string", "integer"}},
		"inputs[].lse.base": {"enum": LSEBases}, "inputs[].lse.empty": {"enum": LSEEmpties},
		"outputs[].lse.base": {"enum": LSEBases}, "outputs[].lse.empty": {"enum": LSEEmpties},
		"autocast":              {"enum": opdef.Autocasts},
		"since":                 {"pattern": VersionPattern.String()},
		"deprecated":            {"pattern": DeprecatedPattern.String()},
		"tolerance.*":           {"required": []string{"rtol", "atol"}},
		"tolerance.*.rtol":      {"minimum": 0},
		"tolerance.*.atol":      {"minimum": 0},
		"kernels[]":             {"required": []string{"name", "device"}},
		"kernels[].device":      oneOrMore(manifest.Devices),
		"kernels[].arch":        words,
		"kernels[].compilers":   {"minItems": 1, "uniqueItems": true},
		"kernels[].compilers[]": {"enum": opdef.Compilers},
		"kernels[].parallel":    {"uniqueItems": true},
		"kernels[].dtypes.*":    words,
		"kernels[].params.*":    {"minItems": 2, "uniqueItems": true},
	})
}

// inCPP are the dtypes that kernels can have.
func inCPP() (dtypes []string) {
	for _, row := range dtype.Table {
		if row.CPP != "" {
			dtypes = append(dtypes, row.Short)
		}
	}
	return dtypes
}

// oneOrMore describes a word, or a list of different ones.
func oneOrMore(words []string) map[string]any {
	word := map[string]any{"enum": words}
	return map[string]any{"anyOf": []any{word, map[string]any{"type": "array", "items": word, "minItems": 1, "uniqueItems": true}}}
}
