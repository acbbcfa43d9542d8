// Package flashinfer reads and writes the definitions of FlashInfer Trace: JSON with named axes, inputs, outputs and a reference in
// PyTorch. It runs nothing of them.
package flashinfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// Ending is that of a file with one definition.
const Ending = ".json"

// Axis is a dimension: constant, or chosen by the call.
type Axis struct {
	Type        string `json:"type"`
	Value       *int64 `json:"value,omitempty"`
	Description string `json:"description,omitempty"`
}

// Tensor is an input or an output; a number, a text or a dtype if its shape is null.
type Tensor struct {
	Shape       []string `json:"shape"`
	DType       string   `json:"dtype"`
	Description string   `json:"description,omitempty"`
	Optional    bool     `json:"optional,omitempty"`
	// Param is the input that the call overwrites with an output.
	Param string `json:"param,omitempty"`
}

// Definition is what a file says. Its other keys stay in the file.
type Definition struct {
	Name        string         `json:"name"`
	Description string         `json:"description"`
	OpType      string         `json:"op_type"`
	Tags        []string       `json:"tags,omitempty"`
	Axes        Object[Axis]   `json:"axes"`
	Constraints []string       `json:"constraints,omitempty"`
	Inputs      Object[Tensor] `json:"inputs"`
	Outputs     Object[Tensor] `json:"outputs"`
	Reference   string         `json:"reference"`
	// Init is the source of a function that makes inputs.
	Init string `json:"init,omitempty"`
}

// Object is an object of JSON, whose members keep their order.
type Object[T any] struct {
	Names []string
	By    map[string]T
}

// UnmarshalJSON reads the members in order.
func (o *Object[T]) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, &o.By); err != nil {
		return err
	}
	tokens := json.NewDecoder(bytes.NewReader(data))
	if start, err := tokens.Token(); err != nil || start != json.Delim('{') {
		return err // null is an object without members
	}
	for tokens.More() {
		key, err := tokens.Token()
		if err != nil {
			return err
		}
		var skipped json.RawMessage
		if err := tokens.Decode(&skipped); err != nil {
			return err
		}
		o.Names = append(o.Names, fmt.Sprint(key))
	}
	return nil
}

// MarshalJSON writes the members in order.
func (o Object[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, name := range o.Names {
		key, err := PlainJSON(name)
		if err != nil {
			return nil, err
		}
		value, err := PlainJSON(o.By[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s%s: %s", map[bool]string{true: "", false: ", "}[i == 0], key, value)
	}
	return []byte("{" + b.String() + "}"), nil
}

// Set adds a member, or replaces it.
func (o *Object[T]) Set(name string, value T) {
	if o.By == nil {
		o.By = map[string]T{}
	}
	if _, known := o.By[name]; !known {
		o.Names = append(o.Names, name)
	}
	o.By[name] = value
}

// PlainJSON is a value in JSON whose texts are as they are.
func PlainJSON(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// JSON is the definition as a file.
func (d *Definition) JSON() ([]byte, error) {
	text, err := PlainJSON(d)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		return nil, err
	}
	return append(b.Bytes(), '\n'), nil
}

// Parse reads a definition, and refuses what is none.
func Parse(data []byte) (*Definition, error) {
	var d Definition
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("no definition of FlashInfer: %w", err)
	}
	switch {
	case d.Name == "" || len(d.Inputs.Names) == 0 || len(d.Outputs.Names) == 0:
		return nil, errors.New("no definition of FlashInfer: it lacks a name, inputs or outputs")
	case d.Reference == "":
		return nil, errors.New("it has no reference")
	case d.Formula() == "":
		return nil, errors.New("its reference defines no function")
	}
	return &d, d.invisible()
}

var (
	run      = regexp.MustCompile(`(?m)^def run\(`)
	function = regexp.MustCompile(`(?m)^def (\w+)\(`)
)

// Formula is the name of the function that the reference defines: run, or the last one, which others help; "" if there is none.
func (d *Definition) Formula() string {
	if run.MatchString(d.Reference) {
		return "run"
	}
	return last(d.Reference)
}

func last(source string) string {
	found := function.FindAllStringSubmatch(source, -1)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1][1]
}

// parameters is the text of the formula's parameters.
func (d *Definition) parameters() string {
	_, rest, _ := strings.Cut(d.Reference, "def "+d.Formula()+"(")
	depth := 0
	end := strings.IndexFunc(rest, func(r rune) bool {
		depth += strings.Count("([{", string(r)) - strings.Count(")]}", string(r))
		return depth < 0
	})
	return rest[:max(end, 0)]
}

// required says whether the formula has a parameter of the name without a default.
func (d *Definition) required(parameter string) bool {
	pattern := regexp.MustCompile(`(?m)(?:^|[\s,(*])` + regexp.QuoteMeta(parameter) + `\s*(:[^,=]*)?(,|$)`)
	return pattern.MatchString(d.parameters())
}

// preset is the number or truth value that the formula has as the default of a parameter, as TOML writes it; "" if it has none.
func (d *Definition) preset(parameter string) string {
	pattern := regexp.MustCompile(`(?m)(?:^|[\s,(*])` + regexp.QuoteMeta(parameter) + `\s*(?::[^,=]*)?=\s*(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|True|False)\s*(?:,|$)`)
	m := pattern.FindStringSubmatch(d.parameters())
	if m == nil {
		return ""
	}
	return strings.ToLower(m[1])
}

// constants are the values of the axes that have one.
func (d *Definition) constants() map[string]int64 {
	out := map[string]int64{}
	for name, axis := range d.Axes.By {
		if axis.Type == "const" && axis.Value != nil {
			out[name] = *axis.Value
		}
	}
	return out
}

// ends are the inputs of offsets, whose last element an axis is: "total == indptr[-1].item()".
func (d *Definition) ends() map[string]string {
	out := map[string]string{}
	for _, c := range d.Constraints {
		if m := endPattern.FindStringSubmatch(strings.TrimSpace(c)); m != nil {
			out[m[2]] = m[1]
		}
	}
	return out
}

var endPattern = regexp.MustCompile(`^(\w+) == (\w+)\[-1\]\.item\(\)$`)

// invisible refuses texts with characters that nobody sees, as definitions do: pages show the reference.
func (d *Definition) invisible() error {
	if i := strings.IndexFunc(d.Reference, func(r rune) bool { return r != '\f' && names.Invisible(r) }); i >= 0 {
		return fmt.Errorf("the reference holds the character %U", []rune(d.Reference[i:])[0])
	}
	return nil
}
