package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"syscall"
	"time"

	"github.com/opcast/opcast/internal/system/safefile"
)

// Lock keeps other processes out of a folder. It is the kernel's: it ends when the process has ended that took it, and all
// that inherited it.
type Lock struct {
	file *os.File
	// left says that others hold the lock who work in the folder.
	left bool
}

// LockProject waits until no other build works in the project's folder.
func LockProject(ctx context.Context, dir string, log io.Writer) (*Lock, error) {
	return LockFile(ctx, dir, "build/.lock", "another opcast build in "+dir, log)
}

// LockFile waits until no other process holds the lock, a file below dir. Whoever waits for longer than a second is told
// for whom.
func LockFile(ctx context.Context, dir, name, holder string, log io.Writer) (*Lock, error) {
	var file *os.File
	err := safefile.In(dir, func(root *os.Root) (err error) {
		if err = safefile.MkdirAll(root, path.Dir(name)); err == nil {
			file, err = safefile.OpenFile(root, name, os.O_CREATE|os.O_RDWR, 0o644)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return &Lock{file: file}, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
		case waited == time.Second:
			fmt.Fprintf(log, "waiting for %s\n", holder)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-time.After(pause):
		}
	}
}

// Release lets others in, also where a program that a build started goes on, such as the server of a compiler's cache. Only
// compilers that have lost their ninja keep the lock until they end.
func (l *Lock) Release() {
	if !l.left {
		_ = syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN)
	}
	_ = l.file.Close()
}
