package report_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

// writeBig writes a large report over an older one, and returns the page.
func writeBig(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cases"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cases", "op_00.py"), []byte("print('"+hostile+"')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := big(18)
	for i := range old.Results {
		if x := &old.Results[i]; x.Op == "op_00" && x.Status == report.Fail {
			x.Status = report.Pass
		}
	}
	now := big(19)
	extras(now)
	for _, r := range []*report.Report{old, now} {
		if err := r.WriteFiles(dir); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "index.html")
}

// The page is there without JavaScript, too, and nothing that a report holds gets out of its place.
func TestPageText(t *testing.T) {
	text, err := os.ReadFile(writeBig(t))
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if got := strings.Count(page, `<a class="cell`); got != 19*8 {
		t.Errorf("%d cells of the matrix, want %d", got, 19*8)
	}
	if got := strings.Count(page, "</script>"); got != 2 {
		t.Errorf("%d ends of scripts, want 2: something hostile is not escaped", got)
	}
	for _, bad := range []string{"<img", "https://example.invalid/x.png\" onerror", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, want := range []string{
		"default-src &#39;none&#39;", "Since the previous run", "no wheel of torch for this Python", "survived", "0.50×",
		"52\u202f632 in all, 17.1 % reached a kernel", "-4 KiB",
		"c0ffee0123456789c0ffee0123456789", "a processor", "8 min 46 s",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// A name of a reproducer does not lead out of the report's folder.
func TestScriptsStayInside(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("passphrase"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := sample()
	r.Results[1].Reproducer = "../secret"
	inner := filepath.Join(dir, "report")
	if err := r.WriteFiles(inner); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(inner, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("passphrase")) {
		t.Error("the page shows a file that is not of the report")
	}
}

// An empty report has a page.
func TestEmptyPage(t *testing.T) {
	var out bytes.Buffer
	if err := (&report.Report{Collection: "demo"}).WriteHTML(&out, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "Nothing was checked") {
		t.Error("the page does not say that nothing was checked")
	}
}
