package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed page
var pageFiles embed.FS

// assets are the page's own style and script, and the policy that names the script: whatever a definition says, nothing
// else runs, and nothing is fetched from anywhere.
type assets struct {
	Style  template.CSS
	Script template.JS
	Policy string
}

var pageAssets = loadAssets()

func loadAssets() assets {
	style := readAll("base.css", "parts.css")
	script := readAll("data.js", "filter.js", "results.js", "accuracy.js", "main.js")
	sum := sha256.Sum256([]byte(script))
	return assets{
		Style: template.CSS(style), Script: template.JS(script),
		Policy: "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'",
	}
}

// readAll joins files of the page.
func readAll(names ...string) string {
	var b bytes.Buffer
	for _, name := range names {
		text, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			panic("report: " + err.Error()) // the file is embedded
		}
		b.Write(text)
	}
	return b.String()
}

var page = template.Must(template.New("page.html.tmpl").Funcs(template.FuncMap{
	"duration": Duration, "when": when, "digestPrefix": digestPrefix, "lower": strings.ToLower, "names": names, "count": count, "percent": percent,
	"kib":   func(bytes int64) string { return fmt.Sprintf("%.0f KiB", float64(bytes)/1024) },
	"times": func(v float64) string { return fmt.Sprintf("%.2f×", v) },
}).ParseFS(pageFiles, "page/*.html.tmpl"))

// WriteHTML writes one self-contained page: the matrix of ops and adaptors, every result, and what else was found.
// Scripts are the texts of reproducers by the names that results have.
func (r *Report) WriteHTML(w io.Writer, scripts map[string]string) error {
	r.finite()
	if err := page.Execute(w, r.view(scripts)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// when writes a time for people; a text that is none stays.
func when(started string) string {
	at, err := time.Parse(time.RFC3339Nano, started)
	if err != nil {
		return started
	}
	return at.UTC().Format("2 January 2006, 15:04 UTC")
}

// short is the beginning of a digest.
func digestPrefix(digest string) string { return fmt.Sprintf("%.12s", digest) }

// count writes a number with separators of thousands.
func count(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}

// percent is how much of the largest a number is.
func percent(part, all float64) string { return fmt.Sprintf("%.1f", 100*part/max(all, 1e-9)) }
