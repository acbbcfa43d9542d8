// Package view prepares a project for templates and fills them in: what the emitters of all languages share.
//
// An emitter is a function from a Collection to drafts. A Draft names a template and what it sees; Render makes files of
// drafts.
package view

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/rule"
)

// Collection is a project, prepared for templates.
type Collection struct {
	Project *opdef.Project
	Ops     []*Compiled
}

// Prepare compiles every op of a project.
func Prepare(p *opdef.Project) *Collection {
	c := &Collection{Project: p}
	for _, op := range p.Ops {
		c.Ops = append(c.Ops, &Compiled{Op: op, Project: p, Program: rule.Compile(op)})
	}
	return c
}

// Compiled is what templates see of an op: the definition, its compiled rules and names in each language's style.
type Compiled struct {
	*opdef.Op
	Project *opdef.Project
	Program *rule.Program
}

// Header is the first line of a file generated from this definition, without comment signs.
func (v *Compiled) Header() string { return Marker + v.File + ". DO NOT EDIT." }

// Header is the first line of a file that all definitions feed.
func Header() string { return Marker + "opdefs. DO NOT EDIT." }

// Pascal is the op's name in C++ style.
func (v *Compiled) Pascal() string { return Pascal(v.Name) }

// Pascal writes a name of words joined by underscores or hyphens as C++ names types: "scale_shift" becomes "ScaleShift".
func Pascal(snake string) string {
	var b strings.Builder
	up := true
	for _, r := range snake {
		if r == '_' || r == '-' {
			up = true
			continue
		}
		if up {
			r = unicode.ToUpper(r)
		}
		up = false
		b.WriteRune(r)
	}
	return b.String()
}

// Hash is the op's schema hash: 63 bits over all that decides how its export is called. An adaptor generated from
// another schema refuses the library instead of shifting arguments.
func (v *Compiled) Hash() int64 {
	var s struct {
		Name             string
		Kind             int
		DTypes           []opdef.DTypeVar
		Outputs, Inputs  []schemaArg
		Scratch          []schemaArg `json:",omitempty"`
		Attrs            []string
		Lets, Conditions []string
		Backward         string
		Forward          string `json:",omitempty"`
	}
	s.Name, s.Kind, s.DTypes, s.Backward, s.Forward = v.Name, v.Kind, v.DTypes, v.Backward, v.Forward
	s.Outputs, s.Inputs, s.Scratch = schemaArgs(v.Outputs), schemaArgs(v.Inputs), schemaArgs(v.Scratch)
	for _, a := range v.Attrs {
		if len(a.Among) > 0 {
			s.Attrs = append(s.Attrs, fmt.Sprint(a.Name, a.Among))
		}
		s.Attrs = append(s.Attrs, fmt.Sprint(a.Name, a.Type, a.OneOf, a.Min, a.Max, a.Binds, a.Default, a.Optional))
	}
	for _, l := range v.Lets {
		s.Lets = append(s.Lets, l.Name+"="+l.Expr.Text)
	}
	for _, e := range v.Requires {
		s.Conditions = append(s.Conditions, e.Text)
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // plain strings and numbers always marshal
	}
	sum := sha256.Sum256(text)
	return int64(binary.LittleEndian.Uint64(sum[:8]) >> 1)
}

// schemaArg is what the schema hash covers of an array.
type schemaArg struct {
	Name, Type, Stride       string
	Optional, Mutated, Saved bool
	PresentIf                string
	Valid                    string `json:",omitempty"`
}

func schemaArgs(args []opdef.Arg) []schemaArg {
	var out []schemaArg
	for _, a := range args {
		out = append(out, schemaArg{a.Name, a.Type.Text, a.Stride, a.Optional, a.Mutated, a.Saved, a.PresentIf, a.Valid})
	}
	return out
}

// ABIAttrs are the attrs that the export takes: all but the dtype attrs, whose value the outputs carry.
func (v *Compiled) ABIAttrs() []*opdef.Attr {
	var out []*opdef.Attr
	for i := range v.Attrs {
		if v.Attrs[i].Binds == "" {
			out = append(out, &v.Attrs[i])
		}
	}
	return out
}

// Symbols lists the sizes that the op names, in the order in which they become known: bound dims, then lets.
func (v *Compiled) Symbols() []string {
	var out []string
	for _, r := range v.Program.Rules {
		if (r.Kind == rule.SizeBind || r.Kind == rule.Let) && !slices.Contains(out, r.Symbol) {
			out = append(out, r.Symbol)
		}
	}
	return out
}

// Index returns the position of an argument in the exported signature: outputs, inputs, attrs, scratch.
func (v *Compiled) Index(name string) int {
	i := 0
	for _, a := range slices.Concat(v.Outputs, v.Inputs) {
		if a.Name == name {
			return i
		}
		i++
	}
	for _, a := range v.ABIAttrs() {
		if a.Name == name {
			return i
		}
		i++
	}
	for _, a := range v.Scratch {
		if a.Name == name {
			return i
		}
		i++
	}
	return -1
}

// Arity is the number of arguments of the export.
func (v *Compiled) Arity() int {
	return len(v.Outputs) + len(v.Inputs) + len(v.ABIAttrs()) + len(v.Scratch)
}
