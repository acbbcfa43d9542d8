package tomldoc

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

// Decode fills the struct that target points at. The key of a field is its toml tag, or its name in lower case. Unlike
// go-toml's strict mode, Decode goes on after a value of the wrong type, so that all mistakes are reported at once.
func (d *Document) Decode(target any) {
	d.fill(reflect.ValueOf(target).Elem(), d.values, "")
}

// wanted names the TOML type of a Go kind.
var wanted = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Int: "an integer", reflect.Bool: "true or false", reflect.Float64: "a number",
	reflect.Slice: "an array", reflect.Map: "a table", reflect.Struct: "a table",
}

// TypeWord names the TOML type of a decoded value for a message: "a string", "a table".
func TypeWord(value any) string {
	switch v := value.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "an infinite or undefined number"
		}
		return "a number with a decimal point"
	case bool:
		return "true or false"
	case []any:
		return "an array"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

func (d *Document) fill(dst reflect.Value, value any, path string) {
	switch dst.Kind() {
	case reflect.Interface:
		dst.Set(reflect.ValueOf(value))
		return
	case reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		d.fill(dst.Elem(), value, path)
		return
	}
	ok := false
	switch v := value.(type) {
	case string:
		if ok = dst.Kind() == reflect.String; ok {
			dst.SetString(v)
		}
	case bool:
		if ok = dst.Kind() == reflect.Bool; ok {
			dst.SetBool(v)
		}
	case int64, float64:
		ok = fillNumber(dst, v)
	case []any:
		if ok = dst.Kind() == reflect.Slice; ok {
			d.fillSlice(dst, v, path)
		}
	case map[string]any:
		if ok = dst.Kind() == reflect.Struct || dst.Kind() == reflect.Map; ok {
			d.fillTable(dst, v, path)
		}
	}
	if !ok {
		d.bad[path] = true
		d.diags.Add(d.At(path), code.ValueType, "", "%s: expected %s, got %s", path, wanted[dst.Kind()], TypeWord(value))
	}
}

// fillNumber widens integers to floats and nothing else.
func fillNumber(dst reflect.Value, value any) bool {
	switch v := value.(type) {
	case int64:
		switch dst.Kind() {
		case reflect.Int:
			dst.SetInt(v)
			return true
		case reflect.Float64:
			dst.SetFloat(float64(v))
			return true
		}
	case float64:
		if dst.Kind() == reflect.Float64 && !math.IsNaN(v) && !math.IsInf(v, 0) {
			dst.SetFloat(v)
			return true
		}
	}
	return false
}

func (d *Document) fillSlice(dst reflect.Value, values []any, path string) {
	dst.Set(reflect.MakeSlice(dst.Type(), len(values), len(values)))
	for i, v := range values {
		d.fill(dst.Index(i), v, Element(path, i))
	}
}

func (d *Document) fillTable(dst reflect.Value, table map[string]any, path string) {
	if dst.Kind() == reflect.Map {
		dst.Set(reflect.MakeMap(dst.Type()))
		for _, key := range slices.Sorted(maps.Keys(table)) {
			elem := reflect.New(dst.Type().Elem()).Elem()
			d.fill(elem, table[key], Join(path, key))
			dst.SetMapIndex(reflect.ValueOf(key), elem)
		}
		return
	}
	names := fieldNames(dst.Type())
	for _, key := range slices.Sorted(maps.Keys(table)) {
		where := Join(path, key)
		i := slices.Index(names, key)
		if i < 0 {
			d.unknownKey(path, key, names)
			continue
		}
		d.fill(dst.Field(i), table[key], where)
	}
}

// instead are keys that say in one table what another key says in another, with the hint where only the other is known.
var instead = map[string]struct{ key, hint string }{
	"optional": {"present_if", "write present_if = and the optional input, or the attribute of type bool, that decides"},
}

// unknownKey reports a key. The key that it seems to stand for is not missing then.
func (d *Document) unknownKey(path, key string, names []string) {
	names = slices.Sorted(slices.Values(names))
	hint := diag.DidYouMean(key, names, "allowed here: "+strings.Join(names, ", "))
	if other := instead[key]; slices.Contains(names, other.key) {
		hint = other.hint
	}
	d.diags.Add(d.KeyAt(Join(path, key)), code.UnknownKey, hint, "unknown key %q", key)
	if meant := diag.Nearest(key, names); meant != "" && !d.Has(Join(path, meant)) {
		d.bad[Join(path, meant)] = true
	}
}

// fieldNames returns the key of each field: its toml tag, else its name in lower case.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = strings.ToLower(t.Field(i).Name)
		if tag := t.Field(i).Tag.Get("toml"); tag != "" {
			names[i] = tag
		}
	}
	return names
}
