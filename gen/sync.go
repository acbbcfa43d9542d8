package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/system/safefile"
)

// Changes is how a project's generated files differ from what its definitions say.
type Changes struct {
	// Write lists the files to write, Remove those that no definition asks for any more.
	Write  []File
	Remove []string
	root   *os.Root
}

// GeneratedDirs are the folders in which a file with the marker belongs to the generator.
var GeneratedDirs = []string{"backend/gen", "backend/python", "adaptors", "docs/ops"}

// Compare finds what is missing, different or left over below dir. Every access stays inside dir, whatever symbolic
// links the project holds. Close the result when done.
func Compare(dir string, files []File) (*Changes, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open project: %w", err)
	}
	c := &Changes{root: root}
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[f.Path] = true
		old, err := safefile.Read(root, f.Path)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, errors.Join(err, root.Close())
		case err == nil && (bytes.Equal(old, f.Content) || f.Runtime && own(f, old)):
			continue
		}
		c.Write = append(c.Write, f)
	}
	for _, d := range GeneratedDirs {
		if err := c.leftOver(d, wanted); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	return c, nil
}

// own says whether the project has a file of its own in place of one of the runtime. An empty file is none, unless that of the
// runtime is empty below its first line.
func own(f File, old []byte) bool {
	_, body, _ := bytes.Cut(f.Content, []byte("\n"))
	return !Marked(old) && (len(old) > 0 || len(body) == 0)
}

// Marked says whether a file was generated: the marker stands in its first two lines.
func Marked(content []byte) bool {
	lines := bytes.SplitN(content, []byte("\n"), 3)
	return slices.ContainsFunc(lines[:min(2, len(lines))], func(l []byte) bool { return bytes.Contains(l, []byte(Marker)) })
}

func (c *Changes) leftOver(dir string, wanted map[string]bool) error {
	err := fs.WalkDir(c.root.FS(), dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "lib" || d.Name() == "__pycache__" || strings.HasSuffix(d.Name(), ".egg-info")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(p, safefile.Temporary) {
			c.Remove = append(c.Remove, p) // left by a process that was killed
			return nil
		}
		if !d.Type().IsRegular() || wanted[p] {
			return nil
		}
		content, err := c.root.ReadFile(p)
		if err == nil && Marked(content) {
			c.Remove = append(c.Remove, p)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for left-over files: %w", err)
	}
	return nil
}

// Empty says whether the project is up to date.
func (c *Changes) Empty() bool { return len(c.Write) == 0 && len(c.Remove) == 0 }

// Apply writes and removes files.
func (c *Changes) Apply() error {
	for _, f := range c.Write {
		if _, err := safefile.Write(c.root, f.Path, f.Content); err != nil {
			return err
		}
	}
	for _, p := range c.Remove {
		if err := safefile.Remove(c.root, p); err != nil {
			return err
		}
	}
	return nil
}

// Close releases the project folder.
func (c *Changes) Close() error { return c.root.Close() }
