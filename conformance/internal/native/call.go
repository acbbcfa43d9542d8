package native

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unsafe"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/system/gpudriver"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// Call is one request.
type Call struct {
	library *tvmffi.Library
	// foreign says that nobody counts the kernels that the library starts.
	foreign bool
	Wire    *calls.WireCall
	Blobs   [][]byte
	// Arrays are those of the call by their numbers.
	Arrays map[int]*Array
	// memory is where the arrays are, if that is not the host, and device the name of the device under test.
	memory *gpudriver.Mirror
	device string
}

// Array is an array of a call in this process.
type Array struct {
	spec   calls.WireArray
	tensor *tvmffi.Tensor
}

// ErrInexpressible says that Go cannot pass what a request asks for.
var ErrInexpressible = errors.New("cannot be passed from Go")

// answer makes the call and describes what came of it, as the workers in Python do.
func (n *Call) answer() (reply any, blobs [][]byte, err error) {
	defer func() { err = errors.Join(err, n.memory.Close()) }()
	args, err := n.Arguments()
	if errors.Is(err, ErrInexpressible) {
		return map[string]any{"unsupported": err.Error()}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	before, err := n.launches()
	if err != nil {
		return nil, nil, err
	}
	raised, err := n.run(args)
	if err != nil {
		return nil, nil, err
	}
	after, err := n.launches()
	if err != nil {
		return nil, nil, err
	}
	if err := n.memory.Close(); err != nil {
		return nil, nil, err
	}
	answer := map[string]any{"error": nil, "calls": after - before, "outputs": []any{}, "arrays": []any{}}
	if raised != nil {
		answer["error"] = calls.CallError{Class: raised.Kind, Text: raised.Text}
	}
	return answer, n.Results(answer, raised != nil), nil
}

// Arguments are those of the export: outputs, inputs and attrs, scratch.
func (n *Call) Arguments() ([]any, error) {
	var args []any
	for _, list := range [][]calls.Tagged{n.Wire.Out, n.Wire.Args, n.Wire.Scratch} {
		for _, v := range list {
			arg, err := n.Value(v)
			if err != nil {
				return nil, err
			}
			args = append(args, arg)
		}
	}
	return withLengths(n.Wire.Lists, random.CorruptionOf(n.Wire.Options).Apply(args)), nil
}

// withLengths puts the lengths of lists, if there are some, before the other arguments.
func withLengths(lists *calls.Lists, args []any) []any {
	if lists == nil {
		return args
	}
	var lengths []any
	for _, length := range lists.Lengths {
		lengths = append(lengths, length)
	}
	return append(lengths, args...)
}

// Value makes an argument of a tagged value.
func (n *Call) Value(v calls.Tagged) (any, error) {
	for kind, raw := range v {
		switch kind {
		case "none":
			return nil, nil
		case "array":
			return n.array(raw)
		case "int", "bool", "str", "ints":
			return scalar(kind, raw)
		case "float":
			text, _ := raw.(string)
			return strconv.ParseFloat(text, 64)
		}
	}
	return nil, fmt.Errorf("%w: %v", ErrInexpressible, v)
}

// scalar reads a value that JSON holds as a number, a text or a list.
func scalar(kind string, raw any) (any, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("native caller: %w", err)
	}
	var (
		i  int64
		b  bool
		s  string
		is = []int64{}
	)
	into := map[string]any{"int": &i, "bool": &b, "str": &s, "ints": &is}[kind]
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrInexpressible, text)
	}
	switch kind {
	case "int":
		return i, nil
	case "bool":
		return b, nil
	case "str":
		return s, nil
	}
	return is, nil
}

// array makes a DLPack tensor over the memory of a blob.
func (n *Call) array(raw any) (*tvmffi.Tensor, error) {
	text, err := json.Marshal(raw)
	var spec calls.WireArray
	if err == nil {
		err = json.Unmarshal(text, &spec)
	}
	if err != nil {
		return nil, fmt.Errorf("native caller: %w", err)
	}
	if spec.ReadOnly {
		return nil, fmt.Errorf("%w: read-only memory", ErrInexpressible)
	}
	if twin := n.Arrays[spec.Twin]; twin != nil {
		n.Arrays[spec.Index] = &Array{spec, twin.tensor}
		return twin.tensor, nil
	}
	t := &tvmffi.Tensor{
		DType: tvmffi.DType{Code: uint8(spec.DLPack[0]), Bits: uint8(spec.DLPack[1]), Lanes: 1},
		Shape: spec.Shape, Strides: spec.Strides, ByteOffset: uint64(spec.Offset) * uint64(spec.DLPack[1]/8),
	}
	memory := n.memory
	if spec.Device != "" { // of a device that is not under test: nobody may look at it
		memory = nil
	}
	if t.Data, err = memory.Place(n.Blobs[spec.Blob]); err != nil {
		return nil, err
	}
	t.Device = deviceOf(cmp.Or(spec.Device, n.device))
	if n.foreign && t.Data != nil { // as frameworks do: few authors look at offsets
		t.Data, t.ByteOffset = unsafe.Add(t.Data, t.ByteOffset), 0
	}
	n.Arrays[spec.Index] = &Array{spec, t}
	return t, nil
}

func (n *Call) launches() (int64, error) {
	if n.foreign {
		return 0, nil
	}
	v, err := n.library.Call("_opcast_calls", n.Wire.Op)
	count, _ := v.(int64)
	if err != nil {
		return 0, fmt.Errorf("native caller: %w", err)
	}
	return count, nil
}

// run makes the call, with a kernel forced where the request names one.
func (n *Call) run(args []any) (*tvmffi.Error, error) {
	if n.Wire.Kernel != "" {
		if _, err := n.library.Call("_opcast_force", n.Wire.Op, n.Wire.Kernel); err != nil {
			return nil, fmt.Errorf("native caller: %w", err)
		}
		defer func() { _, _ = n.library.Call("_opcast_force", n.Wire.Op, "") }() // the name was known before
	}
	_, err := n.library.Call(n.Wire.Op, args...)
	var raised *tvmffi.Error
	if err != nil && !errors.As(err, &raised) {
		return nil, fmt.Errorf("native caller: %w", err)
	}
	return raised, nil
}

// Results appends what was written to the answer, then the memory of all arrays.
func (n *Call) Results(reply map[string]any, failed bool) [][]byte {
	var blobs [][]byte
	outputs, memories := []any{}, []any{}
	if !failed {
		written := slices.Clone(n.Wire.Out)
		for _, i := range n.Wire.Mutated {
			written = append(written, n.Wire.Args[i])
		}
		for i, v := range written {
			described, data := n.described(v, i < len(n.Wire.Out), i)
			outputs, blobs = append(outputs, described), append(blobs, data)
		}
	}
	indices := []int{}
	for index := range n.Arrays {
		indices = append(indices, index)
	}
	slices.Sort(indices)
	for _, index := range indices {
		a := n.Arrays[index]
		memories = append(memories, map[string]any{"index": index, "span": n.span(a.spec)})
		blobs = append(blobs, n.Blobs[a.spec.Blob])
	}
	reply["outputs"], reply["arrays"] = outputs, memories
	return blobs
}

// described tells about one result: an output with its place among the outputs, or an overwritten input.
func (n *Call) described(v calls.Tagged, isOutput bool, place int) (map[string]any, []byte) {
	spec, _ := v["array"].(map[string]any)
	for _, a := range n.Arrays {
		if fmt.Sprint(spec["index"]) != strconv.Itoa(a.spec.Index) {
			continue
		}
		given := -1
		if isOutput {
			given = place
		}
		d, _ := dtype.LookupLong(a.spec.DType)
		view := &ndarray.Array{DType: d, Shape: a.spec.Shape, Strides: a.spec.Strides, Offset: a.spec.Offset, Data: n.Blobs[a.spec.Blob]}
		return map[string]any{
			"dtype": a.spec.DType, "shape": a.spec.Shape, "strides": a.spec.Strides, "span": n.span(a.spec),
			"device": n.device, "data": true, "given": given, "same": a.spec.Index,
		}, view.Bytes()
	}
	return map[string]any{"none": true}, nil
}

// deviceOf is the first device of a kind, by its name in messages.
func deviceOf(name string) tvmffi.Device {
	return tvmffi.Device{Type: tvmffi.Kinds[cases.KindOf(name)]}
}

// span is the memory of an array, first address and the one after the last.
func (n *Call) span(spec calls.WireArray) [2]uint64 {
	data := n.Blobs[spec.Blob]
	if len(data) == 0 {
		return [2]uint64{}
	}
	size := int64(spec.DLPack[1] / 8)
	low, high := spec.Offset, spec.Offset
	for i, n := range spec.Shape {
		if n == 0 {
			return [2]uint64{}
		}
		low += min((n-1)*spec.Strides[i], 0)
		high += max((n-1)*spec.Strides[i], 0)
	}
	first := uint64(uintptr(unsafe.Pointer(&data[0])))
	return [2]uint64{first + uint64(low*size), first + uint64((high+1)*size)}
}
