package flashinfer_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/flashinfer"
)

// parsed is a definition of the folder testdata.
func parsed(t *testing.T, name string) *flashinfer.Definition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := flashinfer.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// A definition becomes one that means the same; what has no place in it is told.
func TestDraft(t *testing.T) {
	for name, want := range map[string]struct{ op, notes string }{
		"scale_rows":   {"scale_rows_h64", ""},
		"sum_segments": {"sumsegments_d4", "the constraint \"len(pages) > 0\" is left out\nlayout is left out: its dtype is string"},
		"add_in_place": {"add_in_place_k8", "mask is left out: its dtype is unknown"},
	} {
		draft, err := flashinfer.DraftOf(parsed(t, name), 7)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if notes := strings.Join(draft.Notes, "\n"); draft.Name != want.op || notes != want.notes {
			t.Errorf("%s: %s, notes:\n%s", name, draft.Name, notes)
		}
		golden := filepath.Join("testdata", name+".toml")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(golden, []byte(draft.Definition), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if draft.Definition != string(text) {
			t.Errorf("%s: got\n%s", name, draft.Definition)
		}
	}
}

// What is no definition, or could not become one, is refused with the reason.
func TestRefused(t *testing.T) {
	const rest = `"inputs": {"x": {"shape": ["N"], "dtype": "float32"}}, "axes": {"N": {"type": "var"}}`
	for text, want := range map[string]string{
		`[1]`:           "no definition of FlashInfer: json: cannot unmarshal array into Go value of type flashinfer.Definition",
		`{"name": "f"}`: "no definition of FlashInfer: it lacks a name, inputs or outputs",
		`{"name": "f", "outputs": {"y": {"shape": ["N"], "dtype": "float32"}}, ` + rest + `}`:                                                                                                                                 "it has no reference",
		`{"name": "f", "reference": "x = 1", "outputs": {"y": {"shape": ["N"], "dtype": "float32"}}, ` + rest + `}`:                                                                                                           "its reference has no function: expected \"def run(\" at the beginning of a line",
		`{"name": "f", "reference": "def run(x):\n    # ` + "\u202e" + `", "outputs": {"y": {"shape": ["N"], "dtype": "float32"}}, ` + rest + `}`:                                                                             "the reference holds the character U+202E",
		`{"name": "f", "reference": "def run(x): 0", "outputs": {"y": {"shape": ["M"], "dtype": "float32"}}, ` + rest + `}`:                                                                                                   "output y: its size M follows from no input",
		`{"name": "f", "reference": "def run(x): 0", "outputs": {"y": {"shape": null, "dtype": "float32"}}, ` + rest + `}`:                                                                                                    "output y: expected an array, got a number: its shape may be []",
		`{"name": "for", "reference": "def run(x): 0", "outputs": {"y": {"shape": ["N"], "dtype": "float32"}}, ` + rest + `}`:                                                                                                 `an op cannot be named "for": a Python keyword (choose another name)`,
		`{"name": "f", "reference": "def run(): 0", "inputs": {"x": {"shape": null, "dtype": "int32"}}, "outputs": {"y": {"shape": [], "dtype": "float32"}}, "axes": {}}`:                                                     "no input has a dtype that definitions have",
		`{"name": "f", "reference": "def run(x): 0", "outputs": {"y": {}, "y": {}}, ` + rest + `}`:                                                                                                                            `no definition of FlashInfer: "y" stands there twice`,
		`{"name": "f", "reference": "def run(x): 0", "outputs": {"y": {"shape": ["N"], "dtype": "float32", "param": "x"}, "z": {"shape": ["N"], "dtype": "float32", "param": "x"}}, ` + rest + `}`:                            "outputs y and z both overwrite x",
		`{"name": "f", "reference": "def run(x, c): 0", "inputs": {"x": {"shape": ["N"], "dtype": "float32"}, "c": {"shape": ["N"], "dtype": "float3"}}, "axes": {}, "outputs": {"y": {"shape": ["N"], "dtype": "float32"}}}`: "input c: definitions have no dtype float3, and the reference needs it",
	} {
		d, err := flashinfer.Parse([]byte(text))
		if err == nil {
			_, err = flashinfer.DraftOf(d, 0)
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s\n got: %v\nwant: %s", text, err, want)
		}
	}
}

// Functions that a reference uses and lacks are taken from its authors' sources, with what they need in turn.
func TestHelpers(t *testing.T) {
	d := parsed(t, "add_in_place")
	if _, err := d.Helpers(nil); err == nil || err.Error() != "its reference uses _shifted, which it does not define: add the file in Python that does by --from" {
		t.Errorf("without a source: %v", err)
	}
	source, err := os.ReadFile("testdata/shifted.py")
	if err != nil {
		t.Fatal(err)
	}
	const want = `"""What the reference uses, from its authors."""

from __future__ import annotations

import math


_SHIFT = [
    1.0,  # of all numbers
][0]


def _shifted(x):
    return x + math.sqrt(_SHIFT)
`
	if got, err := d.Helpers([]string{"x = 1\n", string(source)}); err != nil || got != want {
		t.Errorf("%v, got\n%s", err, got)
	}
	if got, err := parsed(t, "scale_rows").Helpers([]string{string(source)}); err != nil || got != "" {
		t.Errorf("nothing is missing: %v, %q", err, got)
	}
}

// What a formula presets is read as Python writes it, and the parameters are those of the function itself.
func TestPresets(t *testing.T) {
	const text = `{"name": "f", "axes": {"N": {"type": "var", "value": 4}}, "inputs": {"input": {"shape": ["N"], "dtype": "float32"}, "x": {"shape": ["N"], "dtype": "float32"},
"a": {"shape": null, "dtype": "float32", "optional": true}, "b": {"shape": null, "dtype": "int32", "optional": true}, "c": {"shape": null, "dtype": "bool", "optional": true},
"d": {"shape": null, "dtype": "int32", "optional": true}, "e": {"shape": null, "dtype": "float32", "optional": true}}, "constraints": ["N == b and c"],
"outputs": {"y": {"shape": ["N"], "dtype": "int16"}},
"reference": "class Other:\n    def run(self, a, e): 0\n\ndef run(input, x, a: Union[int, float] = .5,  # half, or a = 2\n        b=1_000, c: bool = True, d=None, e=max(1, 2)):\n    return x"}`
	d, err := flashinfer.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	draft, err := flashinfer.DraftOf(d, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`{ name = "arg_input", type = "f32[N]", doc = "Argument input." }`, `{ name = "x", type = "f32[N]", doc = "Argument x." }`,
		`{ name = "a", type = "float", default = 0.5,`, `{ name = "b", type = "int", default = 1000,`, `{ name = "c", type = "bool", default = true,`,
		`{ name = "d", type = "int", optional = true, doc`, `{ name = "e", type = "float", optional = true, doc`, `max = 32767`,
	} {
		if !strings.Contains(draft.Definition, want) {
			t.Errorf("%s is not in\n%s", want, draft.Definition)
		}
	}
	if want := []string{`the constraint "N == b and c" is left out`}; !slices.Equal(draft.Notes, want) {
		t.Errorf("notes: %q", draft.Notes)
	}
}

// Members keep their order, and what a definition says comes back.
func TestRoundTrip(t *testing.T) {
	d := parsed(t, "sum_segments")
	text, err := d.JSON()
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.ReadFile("testdata/sum_segments.json")
	if err != nil {
		t.Fatal(err)
	}
	var got, want bytes.Buffer
	if json.Compact(&got, text) != nil || json.Compact(&want, original) != nil {
		t.Fatal("no JSON")
	}
	for _, key := range []string{"axes", "inputs", "outputs"} {
		a, b := member(t, got.Bytes(), key), member(t, want.Bytes(), key)
		if a != b {
			t.Errorf("%s:\n got %s\nwant %s", key, a, b)
		}
	}
}

func member(t *testing.T, text []byte, key string) string {
	t.Helper()
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	return string(object[key])
}
