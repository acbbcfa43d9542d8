package gen_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// outputs draws the outputs.
func (d *drawer) outputs(b *strings.Builder) {
	b.WriteString("outputs = [\n")
	for i := range max(len(d.carried), 1+d.IntN(3)) {
		var dims []string
		if d.lead != "" && d.often(7) {
			dims = append(dims, d.lead)
		}
		for range 1 + d.IntN(3) {
			name := choose(d, append(slices.Clone(d.late), d.dims...)...)
			if d.often(3) {
				name = d.size(name)
			}
			dims = append(dims, name)
		}
		kind, keys, out := d.dtype(), "", drawnArg{name: d.word()}
		if i < len(d.carried) {
			kind = d.carried[i]
		} else if len(d.optional) > 0 && d.often(2) {
			out.presentIf = choose(d, d.optional...)
			keys = ", present_if = " + strconv.Quote(out.presentIf)
		}
		if out.saved = d.gradient && i > 0 && out.presentIf == "" && (d.often(3) || d.results[i-1].saved); out.saved {
			keys = ", saved = true"
		}
		if d.often(1) {
			keys += `, lse = { base = "2", empty = "-inf" }`
		}
		fmt.Fprintf(b, "  { name = %q, type = %q, doc = %s%s },\n", out.name, kind+"["+strings.Join(dims, ", ")+"]", d.doc(), keys)
		out.kind = kind + "[" + strings.Join(dims, ", ") + "]"
		d.results = append(d.results, out)
	}
	b.WriteString("]\n")
}

// backward is the definition of the gradient op. It takes all that it may take.
func (d *drawer) backward() string {
	var b, inputs, outputs strings.Builder
	d.kind++
	var required, optional []string
	add := func(name, kind string, absent bool) {
		line := fmt.Sprintf("  { name = %q, type = %q, doc = %s", name, kind, d.doc())
		if absent {
			optional = append(optional, line+", optional = true },\n")
		} else {
			required = append(required, line+" },\n")
		}
	}
	for _, out := range d.results {
		if out.saved {
			add(out.name, out.kind, false)
		} else {
			add("grad_"+out.name, out.kind, out.presentIf != "")
		}
	}
	for _, in := range d.args {
		add(in.name, in.kind, in.optional)
		present := ""
		if in.optional {
			present = ", present_if = " + strconv.Quote(in.name)
		}
		for _, v := range append(slices.Clone(d.lists), "f32 = f", "bf16 = f") {
			if name, list, _ := strings.Cut(v, " = "); strings.HasPrefix(in.kind, name+"[") && !strings.ContainsAny(strings.ReplaceAll(list, "bf", "f"), "iub") {
				fmt.Fprintf(&outputs, "  { name = %q, type = %q, doc = %s%s },\n", "grad_"+in.name, in.kind, d.doc(), present)
			}
		}
	}
	inputs.WriteString(strings.Join(required, "") + strings.Join(optional, ""))
	var lists []string
	for _, v := range d.lists {
		if name, _, _ := strings.Cut(v, " = "); strings.Contains(inputs.String(), `"`+name+"[") {
			lists = append(lists, v)
		}
	}
	fmt.Fprintf(&b, "doc = %s\nkind = %d\ndtypes = { %s }\ninputs = [\n%s]\noutputs = [\n%s]\n", d.doc(), d.kind, strings.Join(lists, ", "), inputs.String(), outputs.String())
	fmt.Fprintf(&b, "attrs = [\n%s]\n%sreference = \"return 1\"\n", strings.Join(d.keptAttrs, ""), strings.Join(d.lets, ""))
	return b.String()
}

// rest draws what remains: scratch, versions, samples, the reference and the kernels.
func (d *drawer) rest(b *strings.Builder) {
	if d.often(2) {
		fmt.Fprintf(b, "parallel = [%q]\n", d.dims[0])
	}
	if d.often(2) {
		fmt.Fprintf(b, "scratch = [{ name = %q, type = %q%s }]\n", d.word(), d.dtype()+"["+d.size(choose(d, d.dims...))+"]",
			choose(d, "", ", zeroed = true", ", doc = "+d.doc()))
	}
	if d.often(2) {
		b.WriteString("since = \"0.2\"\n")
	}
	if d.often(2) {
		b.WriteString("deprecated = \"use x_y; removed in 0.5\"\n")
	}
	if d.often(2) {
		fmt.Fprintf(b, "samples.%s = [1, 2]\n", d.dims[0])
	}
	fmt.Fprintf(b, "reference = %s\n", tomlText(choose(d, nastyReferences...)))
	if d.often(3) {
		d.kernels(b)
	}
}

func (d *drawer) kernels(b *strings.Builder) {
	for _, device := range []string{"cuda", "cpu", "cpu"}[d.IntN(3):] {
		fmt.Fprintf(b, "[[kernels]]\nname = %q\ndevice = %q\n", d.opName(), device)
		if device == "cuda" {
			b.WriteString(choose(d, "", "arch = \">=90\"\n", "arch = \"90\"\n"))
		}
		switch d.IntN(6) {
		case 0:
			fmt.Fprintf(b, "when = %q\n", d.size(d.dims[0])+" >= 8 and "+d.size(d.dims[0])+" % 8 == 0")
		case 1:
			if len(d.optional) > 0 {
				fmt.Fprintf(b, "when = %q\n", "not aligned("+d.optional[0]+", 16)")
			}
		case 2:
			b.WriteString("supported = true\n")
		}
	}
	fmt.Fprintf(b, "[[kernels]]\nname = %q\ndevice = \"cpu\"\n", d.opName())
}

// doc is the text of a doc key.
func (d *drawer) doc() string { return tomlText(choose(d, nastyTexts...)) }

// tomlText is a basic string of TOML.
func tomlText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// nastyTexts are single lines that mean something to one of the languages that they are printed into.
var nastyTexts = []string{
	"Plain.", "Ends with a question???", "??/", "a ??/ b ??( c ??> d", "*/ and /* and //", `"quoted" and 'single' text`, `"`, `''' and ""`,
	"`code`", "`` two ``", "```", "~~~", "| a | b |", "a || b", "<b>bold</b>", "<script>alert(1)</script>", "&lt; &amp; &", "<!-- comment -->", "-->",
	"[link](javascript:alert(1))", "![image](x.png)", "<https://example.org>", "www.example.org https://example.org", "# heading", "#include <x>", "- item", "* item", "1. item", "1) item", "+ item",
	"> quote", "---", "===", "***", "_x_ *y* __z__ **w**", "{{.Doc}} {% x %} ${x} %s %d", "%", "$x$ and $$y$$", "~strike~ ~~strike~~", "a = b", ":: and ::",
	"Grüße, 日本語, 🎉 and é.", "x_1 ≤ x² · ½", "    indented", "trailing space ", "a  b", "'", ";", "&#0; &#x202e;", "[ref]: x", "[^1]: note", "x[0] y[1][2]", "\u00a0nbsp\u00a0", "a|b`c|d`",
	"# Code generated by opcast from x. DO NOT EDIT.", "R\"(raw)\"", "u8\"x\"", "__FILE__", "\u2028", strings.Repeat("long ", 40) + "text", strings.Repeat("x", 150),
}

var nastyChoices = []string{"none", "true", "relu", "tanh", "nan", "null", "eof", "max", "class", "a_b", "a_2", "NHD", "HND", "Mixed", "A", "default", "int", "n_u_l_l"}

// nastyReferences are bodies of Python functions.
var nastyReferences = []string{
	"return 1", "# ```\nreturn 1", "'''\n```\n````\n'''\nreturn 1", "x = \"\"\"text\"\"\"\nreturn x", "y = '\\n\\\\'\nreturn y", "return '</code></pre><script>'",
	"x = 1\n\n\nreturn x  # */ ??/", "return \"~~~\"\n", "\n\nreturn 0", "if True:\n    return '''a\nb'''", "return 'é🎉'", "return 1 # \\", "return 1\\\n+ 2", "return 1\r\n", "x = 'a\tb'\nreturn x",
}
