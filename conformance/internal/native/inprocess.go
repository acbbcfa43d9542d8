package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/checks/random"
	"github.com/opcast/opcast/internal/system/gpudriver"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// inProcess calls the library in this very process, where random calls are too many for messages: the process that calls
// from Go is one of its own, and the suite survives it.
type inProcess struct {
	library *tvmffi.Library
	// driver is that of the device under test, nil for the host.
	driver *gpudriver.Driver
	device string
}

// Name is that of the caller for which the calls are made.
func (p *inProcess) Name() string { return calls.NativeName }

// ArrayWord is what arrays are called in messages.
func (p *inProcess) ArrayWord() string { return arrayWord }

// Probes are those of the process.
func (p *inProcess) Probes(group string) []calls.Probe { return probes[group] }

// Call makes a call with copies of all memory, so that the call remains as it is. It reports no outputs: whoever wants to
// look at them looks at the buffers.
func (p *inProcess) Call(_ context.Context, call *calls.Call) (result *calls.Result, err error) {
	c := &copied{tensors: map[*calls.Tensor]*tvmffi.Tensor{}, memory: map[*byte][]byte{}, mirror: p.driver.Mirror(), device: p.device}
	defer func() { err = errors.Join(err, c.mirror.Close()) }()
	args, unsupported := c.arguments(call)
	if c.err != nil {
		return nil, c.err
	}
	if unsupported != "" {
		return &calls.Result{Unsupported: unsupported}, nil
	}
	before, err := p.launches(call.Op.Name)
	if err != nil {
		return nil, err
	}
	result = &calls.Result{}
	_, err = p.library.Call(call.Op.Name, args...)
	var raised *tvmffi.Error
	switch {
	case errors.As(err, &raised):
		result.Error = &calls.CallError{Class: raised.Kind, Text: raised.Text}
	case err != nil:
		return nil, fmt.Errorf("native caller: %w", err)
	}
	after, err := p.launches(call.Op.Name)
	err = errors.Join(err, c.mirror.Close())
	result.Launches = after - before
	for _, t := range call.Tensors() {
		result.Buffers = append(result.Buffers, c.of(t.Data))
	}
	return result, err
}

func (p *inProcess) launches(op string) (int64, error) {
	v, err := p.library.Call("_opcast_calls", op)
	count, _ := v.(int64)
	if err != nil {
		return 0, fmt.Errorf("native caller: %w", err)
	}
	return count, nil
}

// copied are the arguments of a call over copies of their memory: what shares memory goes on doing so.
type copied struct {
	tensors map[*calls.Tensor]*tvmffi.Tensor
	memory  map[*byte][]byte
	// mirror is where the copies are on the device, device its name, and err why they are not.
	mirror *gpudriver.Mirror
	device string
	err    error
}

// placed is a copy of memory that begins where kernels may ask for it: Go has no rule for that.
func placed(data []byte) []byte {
	const align = 64
	room := make([]byte, len(data)+align)
	begin := -uintptr(unsafe.Pointer(&room[0])) % align
	return room[begin:][:copy(room[begin:], data)]
}

// of is the copy of memory.
func (c *copied) of(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	if c.memory[&data[0]] == nil {
		c.memory[&data[0]] = placed(data)
	}
	return c.memory[&data[0]]
}

// arguments are those of the export in its order, mangled as the call says.
func (c *copied) arguments(call *calls.Call) (args []any, unsupported string) {
	for _, t := range call.Out {
		args = append(args, c.tensor(t))
	}
	for _, v := range call.Inputs {
		switch v := v.(type) {
		case *calls.Tensor:
			args = append(args, c.tensor(v))
		case nil:
			args = append(args, nil)
		default:
			return nil, ErrInexpressible.Error()
		}
	}
	args = append(args, call.AttrValues()...)
	for i := range call.Op.Scratch {
		if call.Scratch == nil {
			args = append(args, nil)
		} else {
			args = append(args, c.tensor(call.Scratch[i]))
		}
	}
	at, _ := call.Options["at"].(int64)
	as, _ := call.Options["as"].(string)
	return withLengths(calls.ListsOf(call.Op), random.Corruption{At: int(at), As: as}.Apply(args)), ""
}

// tensor is an array over the copy of its memory; nil for none.
func (c *copied) tensor(t *calls.Tensor) any {
	if t == nil {
		return nil
	}
	if have := c.tensors[t]; have != nil {
		return have
	}
	out := &tvmffi.Tensor{
		DType: tvmffi.DType{Code: uint8(t.DType.Code), Bits: uint8(t.DType.Bits), Lanes: 1},
		Shape: cases.OrEmpty(t.Shape), Strides: cases.OrEmpty(t.Strides), ByteOffset: uint64(t.Offset) * uint64(t.DType.Bits/8),
	}
	place := c.mirror
	if t.Device != "" { // of a device that is not under test: nobody may look at it
		place = nil
	}
	var err error
	out.Data, err = place.Place(c.of(t.Data))
	c.err = errors.Join(c.err, err)
	out.Device = deviceOf(cmp.Or(t.Device, c.device))
	c.tensors[t] = out
	return out
}
