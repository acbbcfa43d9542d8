package cache

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// noted suits files with a note.
func noted(want string) func(note, content []byte) bool {
	return func(note, _ []byte) bool { return string(note) == want }
}

func TestFind(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	c := Open(folder)
	c.Keep("k", []byte("old"), []byte("one\ntwo"))
	c.Keep("k", []byte("new"), []byte("three"))
	c.Keep("k", []byte("new"), []byte("four"))
	for _, want := range []struct{ key, note, content string }{
		{"k", "old", "one\ntwo"}, {"k", "new", "four"}, {"k", "none", ""}, {"other", "old", ""},
	} {
		if got := Open(folder).Find(want.key, noted(want.note)); string(got) != want.content {
			t.Errorf("%s %s: %q, want %q", want.key, want.note, got, want.content)
		}
	}
	if got := list(folder); len(got) != 2 {
		t.Errorf("the folder holds %v, want two files", got)
	}
}

// TestNothing: a cache in which nothing can be kept is empty, and complains about nothing.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	file, open := filepath.Join(dir, "file"), filepath.Join(dir, "open")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Cache{
		{}, Open(filepath.Join(file, "cache")), Open(open), Open(filepath.Join(open, "cache")), Open(filepath.Join(open, "a", "b", "c")),
	} {
		c.Keep("k", []byte("note"), []byte("content"))
		c.Trim()
		if got := c.Find("k", noted("note")); got != nil {
			t.Errorf("%+v: found %q", c, got)
		}
	}
}

func TestKeepsTheNewestOfAKey(t *testing.T) {
	c := Open(t.TempDir())
	for i := range perKey + 3 {
		c.Keep("k", fmt.Append(nil, i), []byte("content"))
	}
	if got := len(c.files("k")); got != perKey {
		t.Errorf("%d files, want %d", got, perKey)
	}
	if c.Find("k", noted(fmt.Sprint(perKey+2))) == nil {
		t.Error("the newest is gone")
	}
}

func TestTrim(t *testing.T) {
	c := Open(t.TempDir())
	content := bytes.Repeat([]byte("x"), 1000)
	for i := range 10 {
		key := fmt.Sprint(i)
		c.Keep(key, nil, content)
		when := time.Now().Add(time.Duration(i-20) * time.Hour)
		if err := os.Chtimes(c.files(key)[0], when, when); err != nil {
			t.Fatal(err)
		}
	}
	c.Find("0", noted("")) // the oldest, but for its use now
	c.trim(20000)
	if got := len(list(c.folder)); got != 10 {
		t.Errorf("%d files are left of a cache that is not full", got)
	}
	c.Trim() // the first time, which is noted, and then not for a day
	c.Trim()
	if got := len(list(c.folder)); got != 11 {
		t.Errorf("%d files, want those and a stamp", got)
	}
	c.trim(8008)
	for key, want := range map[string]bool{"0": true, "1": false, "6": false, "7": true, "9": true} {
		if got := c.Find(key, noted("")) != nil; got != want {
			t.Errorf("%s is kept: %v, want %v", key, got, want)
		}
	}
}

func TestFolder(t *testing.T) {
	for _, test := range []struct{ named, home, want string }{
		{"/c", "/home/me", "/c"}, {"", "/home/me", "/home/me/.cache/opcast"}, {"", "", ""},
	} {
		env := map[string]string{"OPCAST_CACHE_DIR": test.named, "HOME": test.home}
		if got := Folder(func(name string) string { return env[name] }); got != test.want {
			t.Errorf("%v: %q", test, got)
		}
	}
}
