// Package cache keeps files for all projects of a user in one folder: what took long to make need not be made twice.
//
// It is a help and no more. What cannot be read is not there, and what cannot be written is not kept.
package cache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// limit is how many bytes a cache may hold; perKey is how many files it keeps for one key.
const (
	limit  = 2 << 30
	perKey = 16
)

// Folder is where the user's caches are: $OPCAST_CACHE_DIR, or a folder at home; empty where there is no home. Packages that
// build themselves have the same rule (_cache.py of the backend's package).
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

// Open returns the cache in a folder, which is made when something is kept. Nothing is read from a folder into which others
// could have put it.
func Open(folder string) Cache {
	for _, dir := range []string{filepath.Dir(folder), folder} {
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		state, ok := info.Sys().(*syscall.Stat_t)
		if !ok || int(state.Uid) != os.Geteuid() && state.Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return Cache{}
		}
	}
	return Cache{folder}
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
	if c.folder == "" || os.MkdirAll(filepath.Join(c.folder, key), 0o700) != nil {
		return
	}
	sum := sha256.Sum256(note)
	file := filepath.Join(c.folder, key, hex.EncodeToString(sum[:]))
	temp, err := os.CreateTemp(c.folder, ".new-*")
	if err != nil {
		return
	}
	_, err = temp.Write(slices.Concat(note, []byte("\n"), content))
	if err = cmp.Or(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
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

// files are those of a key, the newest first.
func (c Cache) files(key string) []string {
	if c.folder == "" {
		return nil
	}
	found := list(filepath.Join(c.folder, key))
	slices.SortFunc(found, func(a, b kept) int { return b.used.Compare(a.used) })
	paths := make([]string, len(found))
	for i, f := range found {
		paths[i] = f.path
	}
	return paths
}

// Trim removes what was not used for the longest time, if the cache has become too large.
func (c Cache) Trim() { c.trim(limit) }

func (c Cache) trim(limit int64) {
	if c.folder == "" {
		return
	}
	all, size := list(c.folder), int64(0)
	for _, f := range all {
		size += f.size
	}
	if size <= limit {
		return
	}
	slices.SortFunc(all, func(a, b kept) int { return a.used.Compare(b.used) })
	for _, f := range all {
		if size <= limit/2 { // so that not every build has to remove something
			return
		}
		if os.Remove(f.path) == nil {
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
