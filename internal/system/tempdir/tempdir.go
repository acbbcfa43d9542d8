// Package tempdir makes temporary folders that do not outlive their process for long. Whoever makes one first removes
// those beside it whose process has ended without doing so, such as by SIGKILL.
package tempdir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// errSwept says that another process took a folder for an abandoned one before it was locked.
var errSwept = errors.New("it was removed")

// Make makes a folder below parent, or where the system has such things if that is empty. The name begins with the prefix.
func Make(parent, prefix string) (f *Folder, err error) {
	parent = cmp.Or(parent, os.TempDir())
	sweep(parent, prefix)
	for range 100 {
		if f, err = begin(parent, prefix); !errors.Is(err, errSwept) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("temporary folder: %w", err)
	}
	return f, nil
}

func begin(parent, prefix string) (*Folder, error) {
	path, err := os.MkdirTemp(parent, prefix+"-")
	if err != nil {
		return nil, err
	}
	file, err := lock(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &Folder{path, file}, nil
}

// Remove removes the folder with all that is in it.
func (f *Folder) Remove() error {
	return errors.Join(remove(f.Path), f.lock.Close())
}

// remove removes a folder. The lock's file goes last: without it, a folder that holds something is nobody's to remove.
func remove(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}

// unlockedName is the name of the lock's file until it is locked, so that nobody finds it open.
const unlockedName = lockName + ".new"

// lock makes the lock of a folder. Where files cannot be locked, its file keeps the name that it begins with, and the folder
// is left alone.
func lock(dir string) (*os.File, error) {
	unlocked := filepath.Join(dir, unlockedName)
	f, err := os.OpenFile(unlocked, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errSwept
	}
	if err != nil {
		return nil, err
	}
	switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(errSwept, f.Close())
	case err != nil:
		return f, nil
	}
	err = os.Rename(unlocked, filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		err = errSwept
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders in parent whose process has ended. It is a courtesy: what cannot be removed stays.
func sweep(parent, prefix string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		begin, number, ok := cutLast(e.Name(), "-")
		ours := begin == prefix || strings.HasPrefix(begin, "opcast-")
		if e.IsDir() && ok && ours && strings.Trim(number, "0123456789") == "" {
			dir := filepath.Join(parent, e.Name())
			removeAbandoned(dir)
			removeUnlocked(dir)
		}
	}
}

// cutLast cuts a text at the last separator.
func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// removeUnlocked removes a folder of ours that holds nothing, or nothing but a lock that nobody has locked: its process was
// killed just after it had made the folder, or just before it had removed it. A process that lives makes another one.
func removeUnlocked(dir string) {
	if info, err := os.Lstat(dir); err != nil || !isOurs(info) {
		return
	}
	name := filepath.Join(dir, unlockedName)
	f, err := os.OpenFile(name, os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err == nil {
		defer f.Close()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 1 ||
			syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
			return
		}
		_ = os.Remove(name)
	}
	_ = os.Remove(dir) // fails unless it is empty
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
		_ = remove(dir)
	}
}

// isOurs reports whether a file belongs to the user of this process: in a shared folder, others have theirs.
func isOurs(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
