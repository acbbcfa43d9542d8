package view

import "strings"

// Docstring collects the lines of a docstring of Python, without quotes and indentation.
type Docstring struct {
	Lines []string
	// Width is how long lines of text become at most.
	Width int
}

// escaped doubles backslashes and breaks triple quotes, since a docstring is no raw string.
var escaped = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`)

// Add appends a line.
func (d *Docstring) Add(line string) { d.Lines = append(d.Lines, escaped.Replace(line)) }

// Section begins a section.
func (d *Docstring) Section(title string) {
	d.Add("")
	d.Add(title)
	d.Add(strings.Repeat("-", len(title)))
}

// Item appends a term and its description.
func (d *Docstring) Item(term string, sentences ...string) {
	d.Add(term)
	d.Paragraph("    ", strings.Join(strings.Fields(strings.Join(sentences, " ")), " "))
}

// Paragraph appends text broken at spaces.
func (d *Docstring) Paragraph(indent, text string) {
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line) > len(indent) && len(line)+1+len(word) > d.Width {
			d.Add(line)
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	d.Add(line)
}
