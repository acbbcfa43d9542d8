package app

import "github.com/opcast/opcast/internal/language/diag"

// Finding is a diagnostic in JSON.
type Finding struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Code string `json:"code"`
	Text string `json:"text"`
	Hint string `json:"hint,omitempty"`
}

// FindingsOf are diagnostics in JSON, in the order of their places. There is a list where there are none, too.
func FindingsOf(diags diag.List) []Finding {
	findings := []Finding{}
	for _, d := range diags.Sorted() {
		findings = append(findings, Finding{d.File, d.Line, d.Col, d.Code, d.Text, d.Hint})
	}
	return findings
}
