package flashinfer

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef"
)

//go:embed formula.py
var formula string

// Module is the reference of a definition as the Python file of an op has it, for the arguments and results that the op has.
func (d *Definition) Module(op *opdef.Op) string {
	s := read(d)
	var b strings.Builder
	fmt.Fprintf(&b, "_FORMULA = %s\n\n\n%s\n\n%s\n\n", strconv.QuoteToASCII(d.Reference), strings.TrimSpace(formula), s.tables(op))
	parameters := append(opdef.ArgNames(op.Inputs), op.AttrNames()...)
	fmt.Fprintf(&b, "\ndef reference(torch, %s):\n    \"\"\"Call the formula of %s.\"\"\"\n    given = {%s}\n", strings.Join(parameters, ", "), op.Name, Pairs(parameters))
	fmt.Fprintf(&b, "    function = opcast_formula(globals(), _FORMULA, %q, %q)\n", op.Name+Ending, d.Formula())
	b.WriteString("    return opcast_called(function, given, _INPUTS, _RESULTS, _CONSTANTS)\n")
	return b.String()
}

// Samples is the function that makes contents, "" if the definition says nothing of them.
func (d *Definition) Samples() string {
	drawn := slices.ContainsFunc(d.Inputs.Names, distributions.MatchString)
	if len(d.ends()) == 0 && d.maker() == "" && !drawn {
		return ""
	}
	return fmt.Sprintf("\n\n_INIT = %s\n\n\ndef samples(rng, sizes):\n    \"\"\"Make contents as the definition says.\"\"\"\n    return opcast_contents(rng, sizes, _INPUTS, _AXES, _ENDS, _PROBABILITIES, _INIT, %q)\n",
		strconv.QuoteToASCII(d.Init), d.maker())
}

// tables are what the functions of formula.py know of the definition.
func (s *signature) tables(op *opdef.Op) string {
	inputs, results, axes, constants, ends := table{}, table{}, table{}, table{}, table{}
	var rows []string
	for _, name := range s.def.Inputs.Names {
		here, shape := "None", "None"
		if h := s.inputs[name]; op.InputIndex(h) >= 0 || slices.Contains(op.AttrNames(), h) {
			here = strconv.Quote(h)
		}
		if t := s.def.Inputs.By[name]; t.Shape != nil {
			shape = tuple(t.Shape)
		}
		inputs.add(name, "(%s, %s)", here, shape)
		if t := s.def.Inputs.By[name]; distributions.MatchString(name) && len(t.Shape) > 0 && !strings.Contains(t.DType, "int") {
			rows = append(rows, name)
		}
		if total := s.def.ends()[name]; total != "" {
			ends.add(name, "%s", strconv.QuoteToASCII(total))
		}
	}
	for _, name := range s.def.Outputs.Names {
		place := "None"
		if in := s.overwritten(name); in != "" {
			place = strconv.Quote(s.inputs[in])
		}
		results.add(name, "%s", place)
	}
	for _, axis := range s.def.axes() {
		if size := s.dim(axis); looked.MatchString(size) {
			axes.add(axis, "lambda sizes: %s", looked.ReplaceAllStringFunc(size, func(w string) string {
				if w == "min" || w == "max" {
					return w
				}
				return fmt.Sprintf("sizes[%q]", w)
			}))
		} else {
			axes.add(axis, "lambda _: %s", size)
			constants.add(axis, "%s", size)
		}
	}
	return fmt.Sprintf("_INPUTS = {%s}\n_RESULTS = {%s}\n_CONSTANTS = {%s}\n_AXES = {%s}\n_ENDS = {%s}\n_PROBABILITIES = %s\n", inputs, results, constants, axes, ends, tuple(rows))
}

// table is the inside of a dict of Python.
type table []string

func (t *table) add(key, format string, args ...any) {
	*t = append(*t, fmt.Sprintf("\n    %s: "+format+",", append([]any{strconv.QuoteToASCII(key)}, args...)...))
}

// String is the text, which ends with a line break if there are entries.
func (t table) String() string {
	if len(t) == 0 {
		return ""
	}
	return strings.Join(t, "") + "\n"
}

var looked = regexp.MustCompile(`[A-Za-z_]\w*`)

func tuple(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strconv.QuoteToASCII(w) + ", ")
	}
	return "(" + b.String() + ")"
}

// Pairs is the inside of a dict of Python, from names to what they stand for.
func Pairs(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf("%q: %[1]s", name))
	}
	return strings.Join(list, ", ")
}
