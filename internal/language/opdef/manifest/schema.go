package manifest

import (
	"reflect"

	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// Schema is the JSON Schema of a manifest: the keys and types that Check reads, and its tables of words.
func Schema() (map[string]any, error) {
	kind := map[string]any{"minimum": 0, "maximum": MaxKind}
	return tomldoc.Schema(reflect.TypeFor[Manifest](), "manifest of a collection of ops", tomldoc.Rules{
		"":                {"required": []string{"name", "version", "license"}},
		"version":         {"pattern": releasePattern.String()},
		"license":         {"pattern": licensePattern.String()},
		"requires-opcast": {"pattern": requiresPattern.String()},
		"adaptors":        {"minItems": 1, "uniqueItems": true},
		"adaptors[]":      {"enum": framework.Names()},
		"devices":         {"minItems": 1, "uniqueItems": true},
		"devices[]":       {"enum": Devices},
		"files[]":         {"required": []string{"match"}},
		"retired[]":       kind,
		"headers.*": {"oneOf": []any{
			map[string]any{"required": []string{"pip"}}, map[string]any{"required": []string{"path"}}, map[string]any{"required": []string{"system"}},
		}},
	})
}
