package calls

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/opcast/opcast/conformance/internal/cases"
)

// Tagged is a value with its type, as the worker's untag reads it. Floats travel as text, which keeps them exact.
type Tagged map[string]any

// WireArray is the description of an array whose bytes are a blob.
type WireArray struct {
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

// WireCall is a request.
type WireCall struct {
	Do     string            `json:"do"`
	Op     string            `json:"op"`
	Args   []Tagged          `json:"args"`
	Kwargs map[string]Tagged `json:"kwargs"`
	Order  []string          `json:"order"`
	Out    []Tagged          `json:"out"`
	// Scratch is the work space, for bare callers.
	Scratch []Tagged `json:"scratch"`
	Mode    string   `json:"mode"`
	Probe   string   `json:"probe"`
	Kernel  string   `json:"kernel"`
	// Mutated are the places in Args of the inputs that the op overwrites.
	Mutated []int  `json:"mutated"`
	Options Tagged `json:"options"`
	// InOrder says that Args come in the order of the function's parameters.
	InOrder bool `json:"in_order,omitempty"`
	// Lists say which arguments are arrays of lists.
	Lists *Lists `json:"lists"`
}

// Packer collects the blobs of a request.
type Packer struct {
	Blobs [][]byte
	seen  []*Tensor
}

// Array packs a tensor: its bytes become a blob, and what describes it goes into the header.
func (p *Packer) Array(t *Tensor) Tagged {
	p.seen = append(p.seen, t)
	return Tagged{"array": WireArray{
		DType: t.DType.Long, DLPack: [2]int{t.DType.Code, t.DType.Bits}, Shape: cases.OrEmpty(t.Shape), Strides: cases.OrEmpty(t.Strides),
		Offset: t.Offset, Index: len(p.seen) - 1, Twin: slices.Index(p.seen, t), Blob: p.blob(t.Data), Device: t.Device, ReadOnly: t.ReadOnly,
	}}
}

// blob returns the number of the blob that is the given memory.
func (p *Packer) blob(data []byte) int {
	for i, have := range p.Blobs {
		if len(data) > 0 && len(have) == len(data) && &have[0] == &data[0] {
			return i
		}
	}
	p.Blobs = append(p.Blobs, data)
	return len(p.Blobs) - 1
}

// Value tags an attr, an array, or what is given in the place of one.
func (p *Packer) Value(v any) Tagged {
	switch v := v.(type) {
	case nil:
		return Tagged{"none": nil}
	case *Tensor:
		if v == nil {
			return Tagged{"none": nil}
		}
		return p.Array(v)
	case cases.DType:
		return Tagged{"dtype": string(v)}
	case float64:
		return Tagged{"float": strconv.FormatFloat(v, 'g', -1, 64)}
	case int64:
		return Tagged{"int": v}
	case bool:
		return Tagged{"bool": v}
	case string:
		return Tagged{"str": v}
	case []int64:
		return Tagged{"ints": cases.OrEmpty(v)}
	case NumberList:
		return Tagged{"floats": []float64(v)}
	case NumPyNumber:
		return Tagged{"np_scalar": p.Value(v.Value)}
	case []any:
		return Tagged{"list": p.values(v)}
	case Tuple:
		return Tagged{"tuple": p.values(v)}
	case map[string]any:
		items := map[string]Tagged{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			items[name] = p.Value(v[name])
		}
		return Tagged{"dict": items}
	}
	panic(fmt.Sprintf("conformance: no wire form for %T", v))
}

func (p *Packer) values(list []any) []Tagged {
	items := []Tagged{}
	for _, item := range list {
		items = append(items, p.Value(item))
	}
	return items
}

// PublicCall is the request to an adaptor's function: out= and attrs by keyword.
func PublicCall(c *Call) (WireCall, [][]byte) {
	p := &Packer{}
	w := newWire(c)
	keyword := func(name string, v any) {
		w.Kwargs[name] = p.Value(v)
		w.Order = append(w.Order, name)
	}
	if c.Style == InOrder {
		w.inOrder(c, p)
		w.Options = p.Value(c.Options)
		return w, p.Blobs
	}
	last := len(c.Inputs)
	for last > 0 && c.Inputs[last-1] == nil {
		last-- // absent inputs at the end are left out, the others are None
	}
	for i, v := range c.Inputs[:last] {
		if c.Style == Positional {
			w.argument(c, i, p.Value(v))
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
		for _, i := range cases.PublicOutputs(c.Op) {
			w.Out = append(w.Out, p.Value(c.Out[i]))
		}
	}
	w.Options = p.Value(c.Options)
	return w, p.Blobs
}

// inOrder appends all that can be given by its place, with the defaults of what is not given.
func (w *WireCall) inOrder(c *Call, p *Packer) {
	w.InOrder = true
	for _, param := range c.Op.Parameters() {
		name := param.Name()
		switch v, given := c.Attrs[name]; {
		case param.Input != nil:
			i := c.Op.InputIndex(name)
			w.argument(c, i, p.Value(c.Inputs[i]))
		case !param.Positional && given:
			w.Kwargs[name] = p.Value(v)
			w.Order = append(w.Order, name)
		case !param.Positional:
		case given:
			w.Args = append(w.Args, p.Value(v))
		case param.Attr.MayBeNone() || param.Attr.Type == "dtype":
			w.Args = append(w.Args, p.Value(nil))
		default:
			w.Args = append(w.Args, p.Value(param.Attr.Default))
		}
	}
}

// newWire is a request without arguments.
func newWire(c *Call) WireCall {
	return WireCall{
		Do: "call", Op: c.Op.Name, Lists: c.lists(), Mode: c.Mode, Probe: c.Probe, Kernel: c.Kernel,
		Args: []Tagged{}, Kwargs: map[string]Tagged{}, Order: []string{}, Out: []Tagged{}, Scratch: []Tagged{}, Mutated: []int{},
	}
}

// argument appends input number i.
func (w *WireCall) argument(c *Call, i int, v Tagged) {
	if i < len(c.Op.Inputs) && c.Op.Inputs[i].Mutated && c.Inputs[i] != nil {
		w.Mutated = append(w.Mutated, len(w.Args))
	}
	w.Args = append(w.Args, v)
}

// BackendCall is the request to an export: inputs and attrs by position, every attr present.
func BackendCall(c *Call) (WireCall, [][]byte) {
	p := &Packer{}
	w := newWire(c)
	for i, v := range c.Inputs {
		w.argument(c, i, p.Value(v))
	}
	for _, v := range c.AttrValues() {
		w.Args = append(w.Args, p.Value(v))
	}
	w.memory(c, p)
	return w, p.Blobs
}

// memory adds what only bare callers pass.
func (w *WireCall) memory(c *Call, p *Packer) {
	for _, t := range c.Out {
		w.Out = append(w.Out, p.Value(t))
	}
	for i := range c.Op.Scratch {
		var x *Tensor
		if c.Scratch != nil {
			x = c.Scratch[i]
		}
		w.Scratch = append(w.Scratch, p.Value(x))
	}
	w.Options = p.Value(c.Options)
}

// opCall is the request to call an op by its number: attrs by name, those that are left out with their defaults.
func opCall(c *Call) (WireCall, [][]byte) {
	p := &Packer{}
	w := newWire(c)
	for i, v := range c.Inputs {
		w.argument(c, i, p.Value(v))
	}
	given := []string{}
	for _, a := range c.Op.Attrs {
		if _, ok := c.Attrs[a.Name]; ok {
			given = append(given, a.Name)
		}
	}
	for _, name := range given {
		w.Kwargs[name] = p.Value(c.Attrs[name])
	}
	w.Order = given
	w.memory(c, p)
	return w, p.Blobs
}
