package view

import (
	"regexp"
	"strings"
)

// comment makes a text safe at the end of a comment in C++: "??/" there is a backslash, which takes the next line, too.
func comment(text string) string { return strings.ReplaceAll(text, "??/", "? ?/") }

var (
	// marks mean something to Markdown wherever they stand.
	marks = regexp.MustCompile("[\\\\`*\\[\\]<>&|~$]")
	// underscores mean something where they do not join words; words are not split here, so that names stay as they are.
	underscores = regexp.MustCompile(`(^|[^\pL\pN_])_+|_+([^\pL\pN_]|$)`)
	// beginnings mean something at the beginning of a line: headings, lists, rules and what underlines a heading.
	beginnings = regexp.MustCompile(`^(#|\+|-|=|[0-9]+[.)])`)
)

// Markdown makes a text of one line safe in a page, in a paragraph or in the cell of a table: it is shown as it is written.
func Markdown(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	text = marks.ReplaceAllStringFunc(text, func(mark string) string { return `\` + mark })
	text = underscores.ReplaceAllStringFunc(text, func(part string) string { return strings.ReplaceAll(part, "_", `\_`) })
	return beginnings.ReplaceAllStringFunc(text, func(begin string) string { return begin[:len(begin)-1] + `\` + begin[len(begin)-1:] })
}

var backticks = regexp.MustCompile("`+")

// Fence is a code fence that no line of the text closes.
func Fence(text string) string {
	longest := "``"
	for _, run := range backticks.FindAllString(text, -1) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest + "`"
}
