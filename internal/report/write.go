package report

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFiles writes report.json, junit.xml and index.html into the folder.
func (r *Report) WriteFiles(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report folder: %w", err)
	}
	for _, file := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"report.json", r.WriteJSON}, {"junit.xml", r.WriteJUnit}, {"index.html", r.WriteHTML},
	} {
		if err := writeFile(filepath.Join(dir, file.name), file.write); err != nil {
			return err
		}
	}
	return nil
}

func writeFile(path string, write func(io.Writer) error) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	defer func() {
		if closeErr := f.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("report: %w", closeErr)
		}
	}()
	return write(f)
}
