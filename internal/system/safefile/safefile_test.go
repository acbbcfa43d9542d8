package safefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folder is a folder with a neighbour that must stay as it is.
func folder(t *testing.T) (root *os.Root, outside string) {
	t.Helper()
	dir, outside := filepath.Join(t.TempDir(), "project"), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(outside, "kept.txt"), "kept")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, outside
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, root *os.Root, to, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(root.Name(), name)); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	root, _ := folder(t)
	for i, want := range []bool{true, false} {
		changed, err := Write(root, "a/b/c.txt", []byte("text"))
		if err != nil || changed != want {
			t.Errorf("write %d: changed %v, %v", i, changed, err)
		}
	}
	put(t, filepath.Join(root.Name(), "a/b/.c.txt"+Temporary), "left behind by a killed process, and longer than the rest")
	if _, err := Write(root, "a/b/c.txt", []byte("new")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root.Name(), "a/b/.c.txt"+Temporary), "left behind, and nothing has to be written")
	if changed, err := Write(root, "a/b/c.txt", []byte("new")); err != nil || changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	entries, err := os.ReadDir(filepath.Join(root.Name(), "a/b"))
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
	if text, err := Read(root, "a/b/c.txt"); err != nil || string(text) != "new" {
		t.Errorf("read %q, %v", text, err)
	}
}

// TestOutside: nothing outside is written or removed, and the error names the link.
func TestOutside(t *testing.T) {
	root, outside := folder(t)
	link(t, root, outside, "out")
	for name, do := range map[string]func() error{
		"write":  func() error { _, err := Write(root, "out/kept.txt", []byte("x")); return err },
		"new":    func() error { _, err := Write(root, "out/sub/new.txt", []byte("x")); return err },
		"make":   func() error { return MkdirAll(root, "out/folder") },
		"remove": func() error { return Remove(root, "out/kept.txt") },
		"all":    func() error { return RemoveAll(root, "out/kept.txt") },
		"read":   func() error { _, err := Read(root, "out/kept.txt"); return err },
		"inside": func() error { return Inside(root.Name(), "out/report") },
		"up":     func() error { _, err := Write(root, "../up.txt", []byte("x")); return err },
	} {
		err := do()
		if err == nil || name != "up" && !strings.Contains(err.Error(), "out is a link that leads out of project") {
			t.Errorf("%s: %v", name, err)
		}
	}
	entries, err := os.ReadDir(outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside holds %v, %v", entries, err)
	}
	if err := Inside(root.Name(), "real/new/report"); err != nil {
		t.Error(err)
	}
}

// TestLinkIsReplaced: a link in place of a file goes, and what it led to stays.
func TestLinkIsReplaced(t *testing.T) {
	root, outside := folder(t)
	kept := filepath.Join(outside, "kept.txt")
	link(t, root, kept, "file.txt")
	link(t, root, kept, ".file.txt"+Temporary)
	if changed, err := Write(root, "file.txt", []byte("kept")); err != nil || !changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	link(t, root, outside, "gone")
	if err := RemoveAll(root, "gone"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "kept" {
		t.Errorf("outside: %q, %v", text, err)
	}
	if info, err := root.Lstat("file.txt"); err != nil || !info.Mode().IsRegular() {
		t.Errorf("file.txt: %v, %v", info, err)
	}
}

// TestFailure: a write that fails leaves the old content and no temporary file.
func TestFailure(t *testing.T) {
	root, _ := folder(t)
	put(t, filepath.Join(root.Name(), "real/file"), "a file where a folder is needed")
	if _, err := Write(root, "real/file/below.txt", []byte("x")); err == nil || !strings.HasPrefix(err.Error(), "make folder real/file: ") {
		t.Error(err)
	}
	if _, err := Write(root, "real", []byte("x")); err == nil || err.Error() != "write real: file exists" {
		t.Error(err)
	}
	entries, err := os.ReadDir(root.Name())
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
