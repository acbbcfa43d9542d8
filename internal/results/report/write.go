package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/opcast/opcast/internal/system/safefile"
)

// File is the name of the report in its folder.
const File = "report.json"

// WriteFiles writes report.json, junit.xml and index.html into the folder. It compares with the report that is there. Each
// file is the old one or the new one at any time, whatever happens.
func (r *Report) WriteFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report folder: %w", err)
	}
	r.finite()
	// A report that is not there or not readable, such as one of another schema, is nothing to compare with.
	if old, err := Read(filepath.Join(dir, File)); err == nil {
		r.Changes = r.Since(old)
	}
	page := func(w io.Writer) error { return r.WriteHTML(w, scripts(dir, r.Results)) }
	err := safefile.In(dir, func(root *os.Root) error {
		for _, file := range []struct {
			name  string
			write func(io.Writer) error
		}{
			{File, r.WriteJSON}, {"junit.xml", r.WriteJUnit}, {"index.html", page},
		} {
			var text bytes.Buffer
			if err := file.write(&text); err != nil {
				return err
			}
			if _, err := safefile.Write(root, file.name, text.Bytes()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("report in %s: %w", dir, err)
	}
	return nil
}

// How many reproducers the page shows, and how much of each, in bytes.
const (
	maxScripts = 200
	maxScript  = 16 << 10
)

// scripts are the texts of reproducers by their names. What is missing is left out: the page then only names the file.
func scripts(dir string, results []Result) map[string]string {
	root, err := os.OpenRoot(dir) // nothing outside of the report's folder, whatever a name says
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }() // it was only read from
	out := map[string]string{}
	for _, result := range results {
		if result.Reproducer == "" || len(out) == maxScripts {
			continue
		}
		f, err := root.Open(filepath.FromSlash(result.Reproducer))
		if err != nil {
			continue
		}
		if text, err := io.ReadAll(io.LimitReader(f, maxScript)); err == nil {
			out[result.Reproducer] = string(text)
		}
		f.Close()
	}
	return out
}
