// Package cache keeps files for all projects of a user in one folder: what took long to make need not be made twice.
//
// It is a help and no more. What cannot be read is not there, and what cannot be written is not kept.
package cache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// limit is how many bytes a cache may hold, perKey how many files it keeps for one key, and every how long one looks whether
// it has become too large.
const (
	limit  = 2 << 30
	perKey = 16
	every  = 24 * time.Hour
)

// Folder is where the user's caches are: $OPCAST_CACHE_DIR, or a folder at home; empty where neither is set. Packages that
// build themselves take the same one where either is.
func Folder(getenv func(string) string) string {
	home := getenv("HOME")
	if home != "" {
		home = filepath.Join(home, ".cache", "opcast")
	}
	return cmp.Or(getenv("OPCAST_CACHE_DIR"), home)
}

// Cache is a folder of files, each of which has a key and a note. Several may have the same key: their notes tell them apart.
// The zero value keeps nothing.
type Cache struct{ folder string }

// Open makes a folder of a cache, if need be. One into which others can write is not used.
func Open(folder string) Cache {
	if os.MkdirAll(folder, 0o700) != nil || Private(filepath.Dir(folder)) != nil || Private(folder) != nil {
		return Cache{}
	}
	return Cache{folder}
}

// On reports whether anything can be kept.
func (c Cache) On() bool { return c.folder != "" }

// Private fails if somebody else, other than root, can write into a folder, or replace it or one above it.
func Private(folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	for here := folder; ; here = filepath.Dir(here) {
		info, err := os.Lstat(here)
		if err != nil {
			return err
		}
		if user := info.Sys().(*syscall.Stat_t).Uid; user != 0 && int(user) != os.Geteuid() {
			return fmt.Errorf("%s belongs to user %d", here, user)
		}
		// Nobody can replace what others have in a sticky folder, such as /tmp.
		if sticky := here != folder && info.Mode()&fs.ModeSticky != 0; info.Mode().Perm()&0o022 != 0 && !sticky {
			return fmt.Errorf("others can write into %s", here)
		}
		if here == filepath.Dir(here) {
			return nil
		}
	}
}

// Find returns the content of a file with the key which suits, or nil.
func (c Cache) Find(key string, suits func(note, content []byte) bool) []byte {
	for _, file := range c.files(key) {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if note, content, ok := bytes.Cut(text, []byte("\n")); ok && suits(note, content) {
			now := time.Now()
			_ = os.Chtimes(file, now, now) // what is used stays longer
			return content
		}
	}
	return nil
}

// Keep adds a file. The note is one line.
func (c Cache) Keep(key string, note, content []byte) {
	if c.folder == "" || os.MkdirAll(filepath.Dir(c.path(key)), 0o700) != nil {
		return
	}
	temp, err := os.CreateTemp(c.folder, ".new-*")
	if err != nil {
		return
	}
	for _, part := range [][]byte{note, []byte("\n"), content} {
		if err == nil {
			_, err = temp.Write(part)
		}
	}
	sum := sha256.Sum256(note)
	if err = cmp.Or(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), c.path(key)+"-"+hex.EncodeToString(sum[:]))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	for i, old := range c.files(key) {
		if i >= perKey {
			_ = os.Remove(old)
		}
	}
}

// path is how the names of a key's files begin. Few folders hold all files.
func (c Cache) path(key string) string { return filepath.Join(c.folder, key[:min(2, len(key))], key) }

// files are those of a key, the newest first.
func (c Cache) files(key string) (paths []string) {
	if c.folder == "" || Private(filepath.Dir(c.path(key))) != nil {
		return nil
	}
	found := slices.DeleteFunc(list(filepath.Dir(c.path(key))), func(f kept) bool { return !strings.HasPrefix(f.path, c.path(key)+"-") })
	slices.SortFunc(found, func(a, b kept) int { return b.used.Compare(a.used) })
	for _, f := range found {
		paths = append(paths, f.path)
	}
	return paths
}

// Trim removes what was not used for the longest time, if the cache has become too large. It looks once a day.
func (c Cache) Trim() {
	stamp := filepath.Join(c.folder, ".trimmed")
	info, err := os.Stat(stamp)
	if c.folder == "" || err == nil && time.Since(info.ModTime()) < every {
		return
	}
	if os.WriteFile(stamp, nil, 0o600) == nil {
		now := time.Now()
		_ = os.Chtimes(stamp, now, now)
		c.trim(limit)
	}
}

func (c Cache) trim(limit int64) {
	all, size := list(c.folder), int64(0)
	for _, f := range all {
		size += f.size
	}
	if size <= limit {
		return
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, f := range all {
		if size <= limit/2 { // so that not every day something has to go
			return
		}
		if err := os.Remove(f.path); err == nil || errors.Is(err, fs.ErrNotExist) { // another process trims it, too
			size -= f.size
		}
	}
}

// kept is a file of the cache.
type kept struct {
	path string
	size int64
	used time.Time
}

// list lists the files below a folder.
func list(folder string) (all []kept) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil //nolint:nilerr // another process has removed it
		}
		if info, err := entry.Info(); err == nil {
			all = append(all, kept{path, info.Size(), info.ModTime()})
		}
		return nil
	})
	return all
}
