package tomlfmt_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/language/tomlfmt"
	"github.com/opcast/opcast/internal/testkit/randomop"
)

// TestMeaning: definitions that are written in another layout, and then formatted, are the same model as before. They are the
// repository's own, and some that are made up.
func TestMeaning(t *testing.T) {
	made := t.TempDir()
	for drawer, ops := randomop.New(7, 0), 0; ops < 300; {
		for _, op := range drawer.Next() {
			write(t, filepath.Join(made, "opdefs", op.Name+".toml"), op.TOML())
			ops++
		}
	}
	withoutMistakes(t, filepath.Join(made, "opdefs"))
	for name, dir := range map[string]string{"own": "../../../opdefs", "made up": filepath.Join(made, "opdefs")} {
		t.Run(name, func(t *testing.T) {
			copied := filepath.Join(t.TempDir(), "opdefs")
			if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			err := filepath.WalkDir(copied, func(path string, _ os.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".toml") {
					return err
				}
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				formatted, err := tomlfmt.Format(spread(text))
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				return os.WriteFile(path, formatted, 0o644)
			})
			if err != nil {
				t.Fatal(err)
			}
			before, after := models(t, dir), models(t, copied)
			if len(before) < 20 || !reflect.DeepEqual(before, after) {
				t.Errorf("%d ops before and %d ops after are not the same", len(before), len(after))
			}
		})
	}
}

// spread moves what may be moved: it indents lines outside of long strings, and puts blank lines between them.
func spread(text []byte) []byte {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(string(text)) {
		if !inside {
			out.WriteString("\n\n \t")
		}
		if (strings.Count(line, `"""`)+strings.Count(line, "'''"))%2 == 1 {
			inside = !inside
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

// withoutMistakes removes the definitions in which check finds mistakes.
func withoutMistakes(t *testing.T, dir string) {
	t.Helper()
	for diags := (diag.List{{}}); len(diags) > 0; {
		_, found, err := load.Folder(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			_ = os.Remove(filepath.Join(filepath.Dir(dir), d.File))
		}
		diags = found
	}
}

// models are the ops of a folder without the places of their keys.
func models(t *testing.T, dir string) []*opdef.Op {
	t.Helper()
	p, diags, err := load.Folder(dir)
	if err != nil || len(diags) > 0 {
		t.Fatal(err, diags)
	}
	for _, op := range p.Ops {
		op.Pos = nil
	}
	return p.Ops
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
