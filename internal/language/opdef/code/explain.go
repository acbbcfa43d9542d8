package code

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"golang.org/x/tools/txtar"
)

// The explanations, one archive per code. Its comment is a title and, after an empty line, the reason; its files are those of
// two projects, below wrong/ and right/, and says, what the tool prints about the wrong one.
//
//go:embed entries/*.txtar
var entries embed.FS

//go:embed page.md.tmpl
var page string

// Explanation says what a code stands for, in JSON, too.
type Explanation struct {
	Code string `json:"code"`
	// Title says what is wrong in one line, Why the reason for which it is refused. Both are Markdown.
	Title string `json:"title"`
	Why   string `json:"why"`
	// Wrong are the files of a project that has this mistake only, Right those of one without it. What they leave out, such
	// as a manifest, has no part in it.
	Wrong []Example `json:"wrong"`
	Right []Example `json:"right"`
	// Says is what the tool prints about the wrong project.
	Says string `json:"says"`
}

// Example is a file of an explanation. One that is a link has no text, and its name tells the target: "a.toml -> b.toml".
type Example struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Form matches what looks like a code; names of ops have no capital letters.
var Form = regexp.MustCompile(`^[A-Z][0-9]{3}$`)

// Explain returns the explanation of a code.
func Explain(code string) (Explanation, bool) {
	data, err := entries.ReadFile(path.Join("entries", code+".txtar"))
	if err != nil {
		return Explanation{}, false
	}
	archive := txtar.Parse(data)
	title, why, _ := strings.Cut(string(archive.Comment), "\n\n")
	e := Explanation{Code: code, Title: title, Why: strings.TrimSpace(why)}
	for _, f := range archive.Files {
		side, name, _ := strings.Cut(f.Name, "/")
		switch example := (Example{name, string(f.Data)}); side {
		case "wrong":
			e.Wrong = append(e.Wrong, example)
		case "right":
			e.Right = append(e.Right, example)
		case "says":
			e.Says = example.Text
		}
	}
	return e, true
}

// All returns the explanations in the order of their codes.
func All() []Explanation {
	files, _ := entries.ReadDir("entries") // it is embedded
	all := make([]Explanation, 0, len(files))
	for _, f := range files {
		e, _ := Explain(strings.TrimSuffix(f.Name(), ".txtar"))
		all = append(all, e)
	}
	return all
}

// Corrected are the files of the right project that are not in the wrong one, too; all of them, if only another file is left out.
func (e Explanation) Corrected() []Example {
	differ := slices.DeleteFunc(slices.Clone(e.Right), func(f Example) bool { return slices.Contains(e.Wrong, f) })
	if len(differ) == 0 {
		return e.Right
	}
	return differ
}

// link matches a link of Markdown; its text is the first group.
var link = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// Text is the explanation for a terminal.
func (e Explanation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\n", e.Code, plain(e.Title), plain(e.Why))
	for _, side := range []struct {
		heading string
		files   []Example
	}{{"Wrong", e.Wrong}, {"Right", e.Corrected()}} {
		for _, f := range side.files {
			fmt.Fprintf(&b, "\n%s, %s\n\n%s", side.heading, f.Name, indented(f.Text))
		}
		if side.heading == "Wrong" {
			fmt.Fprintf(&b, "\nThe tool says\n\n%s", indented(e.Says))
		}
	}
	return b.String()
}

func plain(markdown string) string {
	return strings.ReplaceAll(link.ReplaceAllString(markdown, "$1"), "`", "")
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// Anchor is the name of the code's section in the page.
func (e Explanation) Anchor() string { return strings.ToLower(e.Code) }

// Language is what a page names the example's language.
func (e Example) Language() string {
	if path.Ext(e.Name) == ".toml" {
		return "toml"
	}
	return "cpp"
}

// Page is the page of all codes, in Markdown.
func Page() (string, error) {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return "", fmt.Errorf("parse page: %w", err)
	}
	var b strings.Builder
	groups := map[string][]Explanation{}
	for _, e := range All() {
		groups[e.Code[:1]] = append(groups[e.Code[:1]], e)
	}
	check := append(groups["E"], groups["N"]...)
	data := struct{ Check, Build, All []Explanation }{check, groups["B"], append(check, groups["B"]...)}
	if err := t.Execute(&b, data); err != nil {
		return "", fmt.Errorf("render page: %w", err)
	}
	return b.String(), nil
}
