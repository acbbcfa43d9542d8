package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// tagged is a value with its type, as the worker's untag reads it. Floats travel as text, which keeps them exact.
type tagged map[string]any

// wireArray is the description of an array whose bytes are a blob.
type wireArray struct {
	DType   string  `json:"dtype"`
	DLPack  [2]int  `json:"dlpack"`
	Shape   []int64 `json:"shape"`
	Strides []int64 `json:"strides"`
	Offset  int64   `json:"offset"`
	// Index is the number of the array among the call's tensors, Twin that of the first argument that is the very same
	// object. Overlapping arrays share a blob.
	Index    int    `json:"index"`
	Twin     int    `json:"twin"`
	Blob     int    `json:"blob"`
	Device   string `json:"device,omitempty"`
	ReadOnly bool   `json:"readonly,omitempty"`
}

// wireCall is a request.
type wireCall struct {
	Do     string            `json:"do"`
	Op     string            `json:"op"`
	Args   []tagged          `json:"args"`
	Kwargs map[string]tagged `json:"kwargs"`
	Order  []string          `json:"order"`
	Out    []tagged          `json:"out"`
	// Scratch is the work space, for bare callers.
	Scratch []tagged `json:"scratch"`
	Mode    string   `json:"mode"`
	Probe   string   `json:"probe"`
	Kernel  string   `json:"kernel"`
	// Mutated are the places in Args of the inputs that the op overwrites.
	Mutated []int  `json:"mutated"`
	Options tagged `json:"options"`
}

// packer collects the blobs of a request.
type packer struct {
	blobs [][]byte
	seen  []*Tensor
}

func (p *packer) array(t *Tensor) tagged {
	p.seen = append(p.seen, t)
	return tagged{"array": wireArray{
		DType: t.DType.Long, DLPack: [2]int{t.DType.Code, t.DType.Bits}, Shape: orEmpty(t.Shape), Strides: orEmpty(t.Strides),
		Offset: t.Offset, Index: len(p.seen) - 1, Twin: slices.Index(p.seen, t), Blob: p.blob(t.Data), Device: t.Device, ReadOnly: t.ReadOnly,
	}}
}

// blob returns the number of the blob that is the given memory.
func (p *packer) blob(data []byte) int {
	for i, have := range p.blobs {
		if len(data) > 0 && len(have) == len(data) && &have[0] == &data[0] {
			return i
		}
	}
	p.blobs = append(p.blobs, data)
	return len(p.blobs) - 1
}

// orEmpty keeps JSON from saying null.
func orEmpty[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// value tags an attr, an array, or what is given in the place of one.
func (p *packer) value(v any) tagged {
	switch v := v.(type) {
	case nil:
		return tagged{"none": nil}
	case *Tensor:
		if v == nil {
			return tagged{"none": nil}
		}
		return p.array(v)
	case DType:
		return tagged{"dtype": string(v)}
	case float64:
		return tagged{"float": strconv.FormatFloat(v, 'g', -1, 64)}
	case int64:
		return tagged{"int": v}
	case bool:
		return tagged{"bool": v}
	case string:
		return tagged{"str": v}
	case []int64:
		return tagged{"ints": orEmpty(v)}
	case Wrong:
		return tagged{"floats": []float64(v)}
	case []any:
		return tagged{"list": p.values(v)}
	case tuple:
		return tagged{"tuple": p.values(v)}
	case map[string]any:
		items := map[string]tagged{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			items[name] = p.value(v[name])
		}
		return tagged{"dict": items}
	}
	panic(fmt.Sprintf("conformance: no wire form for %T", v))
}

func (p *packer) values(list []any) []tagged {
	items := []tagged{}
	for _, item := range list {
		items = append(items, p.value(item))
	}
	return items
}

// publicCall is the request to an adaptor's function: out= and attrs by keyword.
func publicCall(c *Call) (wireCall, [][]byte) {
	p := &packer{}
	w := newWire(c)
	keyword := func(name string, v any) {
		w.Kwargs[name] = p.value(v)
		w.Order = append(w.Order, name)
	}
	last := len(c.Inputs)
	for last > 0 && c.Inputs[last-1] == nil {
		last-- // absent inputs at the end are left out, the others are None
	}
	for i, v := range c.Inputs[:last] {
		if c.Style == Positional {
			w.argument(c, i, p.value(v))
		} else {
			keyword(c.Op.Inputs[i].Name, v)
		}
	}
	for _, a := range c.Op.Attrs {
		if v, given := c.Attrs[a.Name]; given {
			keyword(a.Name, v)
		}
	}
	for name, v := range c.Extra {
		keyword(name, v)
	}
	if c.Style == Reversed {
		slices.Reverse(w.Order)
	}
	if c.Out != nil {
		for _, i := range returned(c.Op) {
			w.Out = append(w.Out, p.value(c.Out[i]))
		}
	}
	w.Options = p.value(c.Options)
	return w, p.blobs
}

// newWire is a request without arguments.
func newWire(c *Call) wireCall {
	return wireCall{
		Do: "call", Op: c.Op.Name, Mode: c.Mode, Probe: c.Probe, Kernel: c.Kernel,
		Args: []tagged{}, Kwargs: map[string]tagged{}, Order: []string{}, Out: []tagged{}, Scratch: []tagged{}, Mutated: []int{},
	}
}

// argument appends input number i.
func (w *wireCall) argument(c *Call, i int, v tagged) {
	if i < len(c.Op.Inputs) && c.Op.Inputs[i].Mutated {
		w.Mutated = append(w.Mutated, len(w.Args))
	}
	w.Args = append(w.Args, v)
}

// backendCall is the request to an export: inputs and attrs by position, every attr present.
func backendCall(c *Call) (wireCall, [][]byte) {
	p := &packer{}
	w := newWire(c)
	for i, v := range c.Inputs {
		w.argument(c, i, p.value(v))
	}
	for _, v := range c.attrValues() {
		w.Args = append(w.Args, p.value(v))
	}
	w.memory(c, p)
	return w, p.blobs
}

// memory adds what only bare callers pass.
func (w *wireCall) memory(c *Call, p *packer) {
	for _, t := range c.Out {
		w.Out = append(w.Out, p.value(t))
	}
	for i := range c.Op.Scratch {
		var x *Tensor
		if c.Scratch != nil {
			x = c.Scratch[i]
		}
		w.Scratch = append(w.Scratch, p.value(x))
	}
	w.Options = p.value(c.Options)
}

// opCall is the request to call an op by its number: attrs by name, those that are left out with their defaults.
func opCall(c *Call) (wireCall, [][]byte) {
	p := &packer{}
	w := newWire(c)
	for i, v := range c.Inputs {
		w.argument(c, i, p.value(v))
	}
	given := []string{}
	for _, a := range c.Op.Attrs {
		if _, ok := c.Attrs[a.Name]; ok {
			given = append(given, a.Name)
		}
	}
	for _, name := range given {
		w.Kwargs[name] = p.value(c.Attrs[name])
	}
	w.Order = given
	w.memory(c, p)
	return w, p.blobs
}
