package diag

import "testing"

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
