// Package ninja writes build.ninja files. It is pure: the same File gives the same text.
package ninja

import (
	"fmt"
	"os"
	"strings"
)

// Var is one "name = value" line. Values are written as they are, so that commands may say $in; Escape makes a
// literal of any text.
type Var struct{ Name, Value string }

// Rule is a command with its settings (command, depfile, deps, description, …).
type Rule struct {
	Name string
	Vars []Var
}

// Build is one edge. Implicit inputs are not part of $in.
type Build struct {
	Outputs          []string
	Rule             string
	Inputs, Implicit []string
	Vars             []Var
}

// File is a whole build.ninja.
type File struct {
	// Comment is the first line.
	Comment  string
	Vars     []Var
	Rules    []Rule
	Builds   []Build
	Defaults []string
}

// Text renders the file. Only a line break is an error: ninja has no way to write one.
func (f *File) Text() (string, error) {
	var w writer
	w.line("", "# ", f.Comment)
	w.vars("", f.Vars)
	for _, r := range f.Rules {
		w.line("\n", "rule ", r.Name)
		w.vars("  ", r.Vars)
	}
	for _, b := range f.Builds {
		implicit := ""
		if len(b.Implicit) > 0 {
			implicit = " |" + paths(b.Implicit)
		}
		w.line("\n", "build", paths(b.Outputs), ": ", b.Rule, paths(b.Inputs), implicit)
		w.vars("  ", b.Vars)
	}
	w.line("\n", "default", paths(f.Defaults))
	return w.text.String(), w.err
}

// Escape makes a literal of a variable's value.
func Escape(value string) string { return strings.ReplaceAll(value, "$", "$$") }

// Expand replaces "$name" by the variable of that name, of which the last counts, and "$$" by "$", as ninja does.
func Expand(text string, vars []Var) string {
	return os.Expand(text, func(name string) string {
		if name == "$" {
			return "$"
		}
		for i := len(vars) - 1; i >= 0; i-- {
			if vars[i].Name == name {
				return Expand(vars[i].Value, vars[:i])
			}
		}
		return ""
	})
}

var pathEscaper = strings.NewReplacer("$", "$$", " ", "$ ", ":", "$:")

func paths(list []string) string {
	var out strings.Builder
	for _, p := range list {
		out.WriteString(" " + pathEscaper.Replace(p))
	}
	return out.String()
}

type writer struct {
	text strings.Builder
	err  error
}

// line writes the parts as one line after the given lead.
func (w *writer) line(lead string, parts ...string) {
	s := strings.Join(parts, "")
	if strings.ContainsAny(s, "\r\n") && w.err == nil {
		w.err = fmt.Errorf("write build.ninja: line break in %q", s)
	}
	w.text.WriteString(lead + s + "\n")
}

func (w *writer) vars(indent string, vars []Var) {
	for _, v := range vars {
		w.line("", indent, v.Name, " = ", v.Value)
	}
}
