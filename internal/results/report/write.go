package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

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

// Plain makes text fit for a terminal. Reasons come from strangers, whose control characters would move the cursor, colour
// what follows or turn the order of letters around: all but ends of lines and tabs are shown as what they are.
func Plain(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)): // no UTF-8
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case r == '\n', r == '\t', !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
			out.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&out, `\x%02x`, r)
		default: // as in JSON
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Shown is an output that people see. All text for it goes through Plain; To takes the rest, such as a live line.
type Shown struct{ To io.Writer }

// Write writes text. It holds no character back, so texts come whole.
func (s Shown) Write(text []byte) (int, error) {
	if _, err := io.WriteString(s.To, Plain(string(text))); err != nil {
		return 0, fmt.Errorf("print: %w", err)
	}
	return len(text), nil
}

// Raw is what lies behind an output.
func Raw(w io.Writer) io.Writer {
	if shown, ok := w.(Shown); ok {
		return shown.To
	}
	return w
}

// Cell makes text fit for a cell of a table in Markdown.
func Cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(Plain(text))
}
