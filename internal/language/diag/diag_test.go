package diag

import (
	"errors"
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	var list List
	list.Add(Pos{File: "b.toml", Line: 2, Col: 3}, "E002", "did you mean \"doc\"?", "unknown key %q", "dok")
	list.Add(Pos{File: "b.toml", Line: 2, Col: 1}, "E001", "", "first\x1b[31m\nline")
	list.Add(Pos{File: "a.toml"}, "E003", "", "whole file")
	var out strings.Builder
	if err := list.Print(&out); err != nil {
		t.Fatal(err)
	}
	want := `a.toml: error: whole file [E003]
b.toml:2:1: error: first [31m line [E001]
b.toml:2:3: error: unknown key "dok" [E002]
  hint: did you mean "doc"?
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if list[0].File != "b.toml" {
		t.Error("Print reordered the list itself")
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"libdemo.so": "libdemo.so", "Größe \"x\" \\d": "Größe \"x\" \\d", "\x1b[31mred\n": `\x1b[31mred\n`, "a\xffb": `a\xffb`,
		"\u202egnp\u009b": `\u202egnp\u009b`, "q\"\\\t": `q"\\t`, "": "",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestPrintError(t *testing.T) {
	if err := (List{{Code: "E001"}}).Print(broken{}); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("got %v", err)
	}
}

func TestNearest(t *testing.T) {
	words := []string{"doc", "dtypes", "inputs", "kind", "name", "parallel", "type"}
	for word, want := range map[string]string{
		"dtype": "dtypes", "Dtypes": "dtypes", "kidn": "kind", "paralel": "parallel", "typ": "type", "docs": "doc", "inptus": "inputs",
		"shape": "", "": "", "x": "", "size": "", "parentheses": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
	if got := Nearest("attributes", []string{"inputs", "attrs", "outputs"}); got != "attrs" {
		t.Errorf("attributes: %q", got)
	}
	if got := Nearest("backed", []string{"backward", "backends"}); got == "" || Nearest("backups123", []string{"backward", "backends"}) != "" {
		t.Errorf("backed: %q", got)
	}
	if got := Nearest("b16", []string{"u16", "bf16"}); got != "bf16" {
		t.Errorf("got %q", got)
	}
}
