// Package references reads the references of definitions as Python does, without running them.
package references

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

//go:embed read.py
var program string

// text is one that Python reads: the body of a function, or a module.
type text struct {
	Text   string `json:"text"`
	Module bool   `json:"module"`
	// Names are what the function reference may take; nil if the text has none that is called by them.
	Names []string `json:"names"`
	// file is where it stands, from start on.
	file  string
	start diag.Pos
}

// mistake is one in a text, at a line that counts from 1 and a column that counts from 0.
type mistake struct {
	line, column int
	text, hint   string
}

// UnmarshalJSON reads a mistake from a list of its parts.
func (m *mistake) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&m.line, &m.column, &m.text, &m.hint})
}

// Check has an interpreter read all references of a project, and returns the mistakes: syntax, names that nothing defines,
// functions that NumPy lacks, and parameters that the op lacks.
func Check(ctx context.Context, python string, p *opdef.Project) (diag.List, error) {
	list := textsOf(p)
	input, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("read references: %w", err)
	}
	// -I: neither the current folder nor variables of the environment decide what is imported.
	cmd := exec.CommandContext(ctx, python, "-I", "-c", program)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("have %s read the references: %w\n%s", python, err, bytes.TrimSpace(stderr.Bytes()))
	}
	var found [][]mistake
	if err := json.Unmarshal(out, &found); err != nil || len(found) != len(list) {
		return nil, fmt.Errorf("have %s read the references: %d answers for %d texts: %w", python, len(found), len(list), err)
	}
	var diags diag.List
	for i, t := range list {
		for _, m := range found[i] {
			diags.Add(t.at(m), code.RefText, m.hint, "the reference: %s", m.text)
		}
	}
	return diags, nil
}

// textsOf are the texts of a project: each op has one.
func textsOf(p *opdef.Project) []text {
	list := []text{}
	for _, op := range p.Ops {
		t := text{Text: strings.Trim(op.Reference, "\r\n"), Names: op.ReferenceNames(), file: op.File, start: op.Pos["reference"]}
		if op.ReferenceModule != "" {
			t.Text, t.Module, t.file = op.ReferenceModule, true, op.ReferenceFile
		}
		if op.Formula != "" {
			t.Text, t.Names = withHelpers(p.Dir, op), nil
		}
		t.start = place(p.Dir, t)
		list = append(list, t)
	}
	return list
}

// withHelpers is the formula of an op after the text of its Python file, whose names it may use.
func withHelpers(dir string, op *opdef.Op) string {
	const future = "from __future__ import annotations\n" // it comes first, or not at all
	helpers, err := os.ReadFile(filepath.Join(dir, strings.TrimSuffix(op.File, ".toml")+".py"))
	if err != nil {
		return op.Formula
	}
	return future + strings.ReplaceAll(string(helpers)+"\n"+op.Formula, future, "")
}

// place is where a text begins in its file, or, where it is written otherwise there, where its key stands.
func place(dir string, t text) diag.Pos {
	if t.Module {
		return diag.Pos{File: t.file, Line: 1, Col: 1}
	}
	whole, err := os.ReadFile(filepath.Join(dir, t.file))
	before, _, ok := strings.Cut(string(whole), t.Text)
	if err != nil || !ok {
		return t.start
	}
	return diag.Pos{File: t.file, Line: strings.Count(before, "\n") + 1, Col: len(before) - strings.LastIndex(before, "\n")}
}

// at is the place of a mistake in the file.
func (t text) at(m mistake) diag.Pos {
	pos := t.start
	if m.line > 1 {
		pos.Line, pos.Col = pos.Line+m.line-1, 1
	}
	pos.Col += max(m.column, 0)
	return pos
}
