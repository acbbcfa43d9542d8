package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed index.html.tmpl
var pageText string

var page = template.Must(template.New("index.html.tmpl").Parse(pageText))

// pageView is what the page shows.
type pageView struct {
	*Report
	Total Summary
	Heads []head
	Rows  []row
	Bad   []Result
}

type head struct{ Name, Version string }

type row struct {
	Op    string
	Cells []*Cell
}

// WriteHTML writes one self-contained page: the matrix of ops and adaptors, and every failure.
func (r *Report) WriteHTML(w io.Writer) error {
	ops, adaptors, cells := r.Matrix()
	view := pageView{Report: r, Total: r.Summary()}
	for _, adaptor := range adaptors {
		view.Heads = append(view.Heads, head{adaptor, r.Adaptors[adaptor]})
	}
	for _, op := range ops {
		line := row{Op: op}
		for _, adaptor := range adaptors {
			cell := cells[[2]string{op, adaptor}]
			line.Cells = append(line.Cells, cell)
			if cell != nil {
				view.Bad = append(view.Bad, cell.Bad...)
			}
		}
		view.Rows = append(view.Rows, line)
	}
	if err := page.Execute(w, view); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}
