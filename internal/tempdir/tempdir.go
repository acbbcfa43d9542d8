// Package tempdir makes temporary folders that do not outlive their process for long. Whoever makes one first removes
// those beside it whose process has ended without doing so, such as by SIGKILL.
package tempdir

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lockName is the file in each folder that its process keeps locked. The lock ends with the process, however that ends,
// and, unlike its number, it cannot be taken for that of another process.
const lockName = ".opcast-running"

// Folder is a temporary folder.
type Folder struct {
	Path string
	lock *os.File
}

// Make makes a folder below parent, or where the system has such things if that is empty. The name begins with the prefix.
func Make(parent, prefix string) (*Folder, error) {
	parent = cmp.Or(parent, os.TempDir())
	sweep(parent)
	path, err := os.MkdirTemp(parent, prefix+"-")
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	f := &Folder{Path: path}
	if f.lock, err = lock(path); err != nil {
		return nil, errors.Join(fmt.Errorf("temporary folder: %w", err), os.RemoveAll(path))
	}
	return f, nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	return errors.Join(os.RemoveAll(f.Path), f.lock.Close())
}

// lock makes the lock of a folder. It has another name until it is locked, so that nobody finds it open. Where files
// cannot be locked, it keeps that name, and the folder is left alone.
func lock(dir string) (*os.File, error) {
	unlocked := filepath.Join(dir, lockName+".new")
	f, err := os.OpenFile(unlocked, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return f, nil
	}
	if err := os.Rename(unlocked, filepath.Join(dir, lockName)); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders in parent whose process has ended. It is a courtesy: what cannot be removed stays.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			removeAbandoned(filepath.Join(parent, e.Name()))
		}
	}
}

// removeAbandoned removes a folder of ours that is nobody's any more.
func removeAbandoned(dir string) {
	name := filepath.Join(dir, lockName)
	info, err := os.Lstat(dir)
	if err != nil || !isOurs(info) {
		return
	}
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return
	}
	held, err := f.Stat()
	now, gone := os.Lstat(name)
	if err == nil && gone == nil && os.SameFile(held, now) { // else someone else has removed it, and made it again
		_ = os.RemoveAll(dir)
	}
}

// isOurs reports whether a file belongs to the user of this process: in a shared folder, others have theirs.
func isOurs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
