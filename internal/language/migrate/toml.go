package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// definition is the draft as a file. Comments mark what a person decides.
func (o *op) definition(kind int, devices []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# A draft from %s, line %d:\n#\n#   %s\n#\n# Shapes and dtypes are guesses from names. Decide what is marked, and remove the marks.\n",
		oneLine(o.fn.File), o.fn.Line, oneLine(o.fn.Written))
	fmt.Fprintf(&b, "doc = %s\nkind = %d\n", tomlString(o.doc()), kind)
	var vars []string
	for _, v := range o.dtypes {
		vars = append(vars, v.name+` = ["`+strings.Join(v.oneOf, `", "`)+`"]`)
	}
	if len(vars) > 0 {
		fmt.Fprintf(&b, "dtypes = { %s } # decide\n", strings.Join(vars, ", "))
	}
	writeList(&b, "inputs", o.inputs, o.fn.Name)
	if len(o.attrs) > 0 {
		writeList(&b, "attrs", o.attrs, o.fn.Name)
	}
	if len(o.outputs) > 0 {
		writeList(&b, "outputs", o.outputs, o.fn.Name)
	}
	fmt.Fprintf(&b, "# decide: what it computes, in NumPy\nreference = \"\"\"\nraise NotImplementedError(\"opdefs/%s.toml does not say yet what %[1]s computes\")\nreturn None\n\"\"\"\n", o.name)
	if len(devices) > 1 {
		device := fmt.Sprintf("%q", o.fn.Device)
		if o.fn.Device == "cuda" && slices.Contains(devices, "rocm") { // whose compilers take the same source
			device = `["cuda", "rocm"]`
		}
		fmt.Fprintf(&b, "\n[[kernels]]\nname = %q\ndevice = %s\n", o.name, device)
	}
	return b.String()
}

// writeList writes a key with a line for each of its entries.
func writeList[T interface{ line(function string) string }](b *strings.Builder, key string, list []T, function string) {
	fmt.Fprintf(b, "%s = [\n", key)
	for _, entry := range list {
		b.WriteString(entry.line(function))
	}
	b.WriteString("]\n")
}

// line is an array in the definition.
func (a *argument) line(function string) string {
	var more string
	if a.optional {
		more += ", optional = true"
	}
	if a.mutated {
		more += ", mutated = true"
	}
	if a.list && a.listOf == "" {
		more += ", list = true"
	} else if a.list {
		more += fmt.Sprintf(", list = %q", a.listOf)
	}
	decide := "shape, dtype"
	if a.param.Pointer && a.param.Elem != "" && !a.guessed {
		decide = "shape"
	}
	switch {
	case !a.result && !a.param.sure:
		decide += ", read or written"
	case a.mutated:
		decide += ", overwritten or a result"
	case !a.result && a.param.Written:
		decide += ", a result or overwritten"
	}
	what := "Argument"
	if a.result {
		what = "Result"
	}
	return fmt.Sprintf("  { name = %q, type = %q%s, doc = %s }, # decide: %s\n", a.name, a.typ, more,
		tomlString(what+" "+a.name+" of "+function+"."), decide)
}

func (a *attribute) line(function string) string {
	var more string
	if a.binds != "" {
		more += fmt.Sprintf(", binds = %q", a.binds)
	}
	if a.optional {
		more += ", optional = true"
	}
	if a.value != "" {
		more += ", default = " + a.value
	}
	return fmt.Sprintf("  { name = %q, type = %q%s, doc = %s },\n", a.name, a.typ, more, tomlString("Argument "+a.name+" of "+function+"."))
}

// doc is the first sentence of what the author says, or names the function.
func (o *op) doc() string {
	doc := oneLine(o.fn.Doc)
	if i := strings.Index(doc, ". "); i >= 0 {
		doc = doc[:i]
	}
	if doc = strings.TrimRight(doc, ". "); doc == "" {
		return "Compute what " + oneLine(o.fn.Name) + " does."
	}
	return doc + "."
}

// oneLine is a text without line breaks and what no file should hold, cut where it becomes too long for a comment.
func oneLine(s string) string {
	const longest = 400
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	s = strings.Map(func(r rune) rune {
		if names.Invisible(r) || r < ' ' || r == 0x7f || r == '\\' {
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + " ..."
	}
	return s
}

func tomlString(s string) string {
	return `"` + strings.ReplaceAll(oneLine(s), `"`, `\"`) + `"`
}
