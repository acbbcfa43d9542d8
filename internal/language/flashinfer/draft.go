package flashinfer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// Draft is a definition of this project that stands for one of FlashInfer.
type Draft struct {
	// Name is that of the op, Definition the text of its file.
	Name, Definition string
	// Notes say what was left out.
	Notes []string
}

// DraftOf makes a draft with the given kind, or says why it cannot.
func DraftOf(d *Definition, kind int) (Draft, error) {
	name, err := OpName(d.Name)
	if err != nil {
		return Draft{}, err
	}
	s := read(d)
	outputs, err := s.results()
	if err != nil {
		return Draft{}, err
	}
	inputs, attrs, order := s.arguments()
	if len(inputs) == 0 {
		return Draft{}, fmt.Errorf("no input has a dtype that definitions have")
	}
	for _, name := range s.left {
		if t := d.Inputs.By[name]; d.required(name) && !t.Optional {
			return Draft{}, fmt.Errorf("input %s: definitions have no dtype %s, and the reference needs it", name, t.DType)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# From %s%s beside it, which holds the reference. Decide what is marked, and remove the marks.\n", name, Ending)
	fmt.Fprintf(&b, "doc = %s\nkind = %d\n", quoted(d.Description, "Compute "+name), kind)
	for _, list := range []struct {
		key     string
		entries []string
	}{{"inputs", inputs}, {"attrs", attrs}, {"outputs", outputs}} {
		if len(list.entries) > 0 {
			fmt.Fprintf(&b, "%s = [\n%s]\n", list.key, strings.Join(list.entries, ""))
		}
	}
	if order != nil {
		fmt.Fprintf(&b, "order = [%s]\n", list(order))
	}
	if requires := append(s.requires, s.nonEmpty()...); len(requires) > 0 {
		fmt.Fprintf(&b, "require = [%s]\n", list(requires))
	}
	if random.MatchString(d.Reference) {
		b.WriteString("deterministic = false # decide: its numbers are random\n")
	}
	return Draft{name, b.String(), s.notes}, nil
}

var random = regexp.MustCompile(`\b(multinomial|torch\.rand|randn|randint|bernoulli|exponential_)\b`)

// OpName is the name of the op that a definition becomes.
func OpName(name string) (string, error) {
	op := strings.Trim(noLetter.ReplaceAllString(strings.ToLower(name), "_"), "_")
	if len(op) > names.MaxLength {
		op = strings.TrimRight(op[:names.MaxLength], "_")
	}
	return op, names.CheckOp(op)
}

// arguments are the lines of inputs and attributes: optional inputs are last. The order of FlashInfer is nil if it is the same.
func (s *signature) arguments() (inputs, attrs, order []string) {
	var optional, needed, last []string
	for _, name := range s.def.Inputs.Names {
		t, here := s.def.Inputs.By[name], s.inputs[name]
		switch {
		case s.typeText(t) != "":
			line := s.input(name, t)
			if t.Optional {
				optional, last = append(optional, line), append(last, here)
			} else {
				inputs, needed = append(inputs, line), append(needed, here)
			}
			order = append(order, here)
		case s.attr(name) != "":
			more := ""
			if t.Optional {
				more = ", optional = true"
			}
			if value := s.def.preset(name, s.attr(name)); value != "" {
				more = ", default = " + value
			}
			attrs = append(attrs, fmt.Sprintf("  { name = %q, type = %q%s, doc = %s },\n", here, s.attr(name), more, quoted(t.Description, "Argument "+name)))
			order = append(order, here)
		default:
			if _, axis := s.sizes[name]; !axis {
				s.left = append(s.left, name)
				s.notes = append(s.notes, fmt.Sprintf("%s is left out: its dtype is %s", name, t.DType))
			}
		}
	}
	if natural := append(needed, last...); slices.Equal(order[:min(len(order), len(natural))], natural) {
		order = nil
	} else {
		for order = unique(append(order, natural...)); !slices.Contains(natural, order[len(order)-1]); {
			order = order[:len(order)-1] // callers name the attributes behind the last input
		}
	}
	return append(inputs, optional...), attrs, order
}

// input is the line of an input.
func (s *signature) input(name string, t Tensor) string {
	more, mark := "", ""
	if t.Optional {
		more += ", optional = true"
	}
	for _, output := range s.def.Outputs.Names {
		if s.overwritten(output) == name {
			more += ", mutated = true"
		}
	}
	if limits := s.limits(name, t); limits != "" && len(t.Shape) > 0 {
		more, mark = more+limits, " # decide: its contents"
	}
	return fmt.Sprintf("  { name = %q, type = %q%s, doc = %s },%s\n", s.inputs[name], s.typeText(t), more, quoted(t.Description, "Argument "+name), mark)
}

// limits are the range of probabilities, of integers that are offsets, and of those whose name says what they point at.
func (s *signature) limits(name string, t Tensor) string {
	if !strings.Contains(t.DType, "int") {
		return map[bool]string{true: ", min = 0, max = 1"}[likely.MatchString(name)]
	}
	if total := s.def.ends()[name]; total != "" {
		return fmt.Sprintf(", min = 0, max = %q, sorted = true", s.dim(total))
	}
	for _, rule := range pointers {
		if !rule.name.MatchString(name) {
			continue
		}
		for _, axis := range s.def.axes() {
			if rule.axis.MatchString(axis) && s.def.bound(axis) {
				return fmt.Sprintf(", min = %d, max = %q", rule.from, strings.Replace(rule.to, "N", s.size(axis), 1))
			}
		}
	}
	return ""
}

// likely are names of probabilities, distributions of them whose rows sum to one.
var (
	likely        = regexp.MustCompile(`(^|_)(probs|top_p|min_p)$`)
	distributions = regexp.MustCompile(`(^|_)probs$`)
)

// pointers say what integers of some names are: where they begin, and an axis that they stay below or reach.
var pointers = []struct {
	name, axis *regexp.Regexp
	from       int
	to         string
}{
	{regexp.MustCompile(`last_page_len`), regexp.MustCompile(`page_size`), 1, "N"},
	{regexp.MustCompile(`(kv|page|sparse|block)\w*_(indices|tables?)$`), regexp.MustCompile(`^(num|total)_(pages|blocks|slots)$`), 0, "N - 1"},
	{regexp.MustCompile(`state\w*_indices`), regexp.MustCompile(`pool_size|cache_size|num_slots`), 0, "N - 1"},
	{regexp.MustCompile(`^pos`), regexp.MustCompile(`max_(seq_len|position|pos)`), 0, "N - 1"},
	{regexp.MustCompile(`^top_?k$`), regexp.MustCompile(`vocab`), 1, "N"},
	{regexp.MustCompile(`^seq_?lens`), regexp.MustCompile(`^(max_num_pages|max_seq_len)`), 1, "N"},
}

// nonEmpty are the conditions of offsets: without a sequence, nothing owns the rows.
func (s *signature) nonEmpty() (conditions []string) {
	for _, name := range s.def.Inputs.Names {
		if t := s.def.Inputs.By[name]; s.def.ends()[name] != "" && len(t.Shape) == 1 && s.typeText(t) != "" {
			number, plain := strings.CutSuffix(s.dim(t.Shape[0]), " + 1")
			conditions = append(conditions, number+map[bool]string{true: " > 0", false: " > 1"}[plain])
		}
	}
	return unique(conditions)
}

// results are the lines of outputs.
func (s *signature) results() (lines []string, err error) {
	taken := map[string]string{}
	for _, name := range s.def.Outputs.Names {
		t := s.def.Outputs.By[name]
		if in := s.overwritten(name); in != "" {
			if other := taken[in]; other != "" {
				return nil, fmt.Errorf("outputs %s and %s both overwrite %s", other, name, in)
			}
			taken[in] = name
			continue
		}
		typ, more := s.typeText(t), ""
		if typ == "" {
			if t.Shape == nil {
				return nil, fmt.Errorf("output %s: expected an array, got a number: its shape may be []", name)
			}
			return nil, fmt.Errorf("output %s: definitions have no dtype %s", name, t.DType)
		}
		for _, axis := range t.Shape {
			if s.sizes[axis] == s.axes[axis] && s.axes[axis] != "" && !s.def.bound(axis) && !s.def.chooses(axis) {
				return nil, fmt.Errorf("output %s: its size %s follows from no input", name, axis)
			}
		}
		if flag := "return_" + name; t.Optional && s.attr(flag) == "bool" {
			more = fmt.Sprintf(", present_if = %q", s.inputs[flag])
		}
		if most := map[string]string{"int16": "32767", "int32": "2147483647"}[t.DType]; most != "" {
			more += ", max = " + most // of integers that do not grow with the arrays, as far as anybody says
		}
		lines = append(lines, fmt.Sprintf("  { name = %q, type = %q%s, doc = %s },\n", s.outputs[name], typ, more, quoted(t.Description, "Result "+name)))
	}
	return lines, nil
}

func list(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }

// quoted is a sentence as a text of TOML on one line.
func quoted(text, otherwise string) string {
	text = strings.Map(func(r rune) rune {
		if names.Invisible(r) || r == '\\' || r == '"' {
			return -1
		}
		return r
	}, strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	if text = strings.TrimRight(text, ". "); text == "" {
		text = otherwise
	}
	return `"` + text + `."`
}
