package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fetched is what a browser fetches by itself from somewhere else.
var fetched = regexp.MustCompile(`<(script|img|link|iframe)\b[^>]*\b(src|href)=["']?(https?:)?//[^>]*`)

// TestSite builds the documentation. The build itself finds dead links, pages without a place in the navigation, and text
// that GitHub reads otherwise. All Markdown files of the repository are pages, and no page needs the network.
func TestSite(t *testing.T) {
	t.Parallel()
	site := t.TempDir()
	build := command(t, root(t), python(t), "-m", "mkdocs", "build", "--quiet", "--strict", "-f", "site/mkdocs.yaml", "-d", site)
	build.Env = append(os.Environ(), "NO_MKDOCS_2_WARNING=1")
	run(t, build)
	found := searched(t, site)
	for _, file := range strings.Fields(run(t, command(t, root(t), "git", "ls-files", "*.md"))) {
		page := strings.TrimSuffix(file, ".md") + ".html"
		if filepath.Base(file) == "README.md" {
			page = filepath.Join(filepath.Dir(file), "index.html")
		}
		text, err := os.ReadFile(filepath.Join(site, page))
		if err != nil {
			t.Errorf("%s is no page: add it to docs/index.md", file)
		}
		if link := fetched.FindString(string(text)); link != "" {
			t.Errorf("%s needs the network: %s", page, link)
		}
		if !found[page] {
			t.Errorf("the search does not find %s", page)
		}
	}
}

// searched are the pages that the search without a server knows.
func searched(t *testing.T, site string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(site, "search", "search_index.js"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Docs []struct{ Location string }
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(string(text), "var __index = ")), &index); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, d := range index.Docs {
		page, _, _ := strings.Cut(d.Location, "#")
		found[page] = true
	}
	return found
}
