package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
	"github.com/opcast/opcast/internal/build/tree"
)

// settle is how long the folders must be quiet before the next run: editors write a file in several steps.
const settle = 100 * time.Millisecond

// watch runs a call again whenever something changes in the project's sources, until it is interrupted.
func (a commands) watch(ctx context.Context, name string, words []string, flags runFlags) (err error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	defer func() { err = errors.Join(err, watcher.Close()) }()
	// From the start, so that a change during the first build counts.
	if err := addFolders(watcher, a.Dir); err != nil {
		return err
	}
	for {
		err := a.run(ctx, name, words, flags)
		if ctx.Err() != nil {
			return nil // that is how it ends
		}
		if exit := (app.ExitError{}); errors.As(err, &exit) && exit.Code != app.ExitFindings {
			return err // a wrong use or a lacking machine stays so
		}
		if err != nil && !errors.As(err, &app.ExitError{}) {
			fmt.Fprintln(a.Stderr, "opcast:", err)
		}
		if err := addFolders(watcher, a.Dir); err != nil {
			return err
		}
		fmt.Fprintln(a.Stderr, "waiting for a change; end with Ctrl-C")
		if err := nextChange(ctx, watcher); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// notWatched are the folders of a project in which nobody writes by hand.
var notWatched = []string{"adaptors", "backend/python", "build", "dist", "docs"}

// addFolders watches every folder of the project but hidden ones and what builds write. Those that are watched already
// stay so.
func addFolders(watcher *fsnotify.Watcher, dir string) error {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		below, outside := filepath.Rel(dir, path)
		switch {
		case outside != nil:
			return outside
		case errors.Is(err, os.ErrNotExist): // gone since its parent was read
			return nil
		case err != nil || !d.IsDir():
			return err
		case path != dir && (strings.HasPrefix(d.Name(), ".") || slices.Contains(notWatched, filepath.ToSlash(below))):
			return fs.SkipDir
		}
		return watcher.Add(path)
	})
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	return nil
}

// nextChange waits for a change of a source file, and for the end of the burst that it belongs to.
func nextChange(ctx context.Context, watcher *fsnotify.Watcher) error {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-quiet:
			return nil
		case err := <-watcher.Errors:
			return fmt.Errorf("watch: %w", err)
		case event := <-watcher.Events:
			if isSource(event) {
				quiet = time.After(settle)
			}
		}
	}
}

// isSource says whether a change concerns a file that a person writes.
func isSource(event fsnotify.Event) bool {
	name := filepath.Base(event.Name)
	definition := slices.Contains([]string{".toml", ".py"}, filepath.Ext(name))
	byHand := !strings.HasPrefix(name, ".") && !strings.Contains(name, ".gen.")
	return !event.Has(fsnotify.Chmod) && byHand && (definition || tree.IsSource(name))
}
