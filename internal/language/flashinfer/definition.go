// Package flashinfer reads and writes the definitions of FlashInfer Trace: JSON with named axes, inputs, outputs and a reference in
// PyTorch. It runs nothing of them.
package flashinfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
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
		if slices.Contains(o.Names, fmt.Sprint(key)) {
			return fmt.Errorf("%q stands there twice", key)
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
	for name, axis := range d.Axes.By {
		if axis.Type != "const" {
			axis.Value = nil
			d.Axes.By[name] = axis
		}
	}
	switch {
	case d.Name == "" || len(d.Inputs.Names) == 0 || len(d.Outputs.Names) == 0:
		return nil, errors.New("no definition of FlashInfer: it lacks a name, inputs or outputs")
	case d.Reference == "":
		return nil, errors.New("it has no reference")
	case d.Formula() == "":
		return nil, errors.New("its reference has no function: expected \"def run(\" at the beginning of a line")
	}
	return &d, d.invisible()
}

var (
	function = regexp.MustCompile(`(?m)^def (\w+)\s*\(`)
	maker    = regexp.MustCompile(`(?m)^def (init|\w+_init)\s*\(`)
)

// Formula is the name of the function that the reference defines: run, or the last one, which others help; "" if there is none.
func (d *Definition) Formula() string {
	found := function.FindAllStringSubmatch(d.Reference, -1)
	if slices.ContainsFunc(found, func(m []string) bool { return m[1] == "run" }) {
		return "run"
	}
	return last(found)
}

// maker is the name of the function that makes inputs, "" if there is none.
func (d *Definition) maker() string {
	return cmp.Or(last(maker.FindAllStringSubmatch(d.Init, -1)), last(function.FindAllStringSubmatch(d.Init, -1)))
}

// last is the name in the last match.
func last(found [][]string) string {
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1][1]
}

// constants are the values of the axes that have one.
func (d *Definition) constants() map[string]int64 {
	out := map[string]int64{}
	for name, axis := range d.Axes.By {
		if axis.Value != nil { // which Parse keeps of constant ones
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
