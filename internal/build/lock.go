package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Lock waits until no other build works in the project's folder and keeps others out until unlock is called.
func Lock(ctx context.Context, dir string, log io.Writer) (unlock func(), err error) {
	return LockFile(ctx, filepath.Join(dir, "build", ".lock"), "another opcast build in "+dir, log)
}

// LockFile waits until no other process holds the lock and keeps others out until unlock is called. The lock is the
// kernel's: it ends with the process, however that ends. Whoever waits for longer than a second is told for whom.
func LockFile(ctx context.Context, path, holder string, log io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	const pause = 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { file.Close() }, nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
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
