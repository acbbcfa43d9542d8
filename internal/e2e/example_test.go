package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// exampleProject lays out a project of the examples without what was built in it.
func exampleProject(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	for _, part := range []string{"opcast.toml", "opdefs", "csrc"} {
		source := filepath.Join(root(t), "examples", name, part)
		if info, err := os.Stat(source); err != nil {
			t.Fatal(err)
		} else if !info.IsDir() {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, part), text)
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
