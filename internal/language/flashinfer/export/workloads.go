package export

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/opcast/opcast/internal/language/flashinfer"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/workload"
)

// trace is a line of a file of workloads.
type trace struct {
	Definition string    `json:"definition"`
	Workload   traceCall `json:"workload"`
	Solution   any       `json:"solution"`
	Evaluation any       `json:"evaluation"`
}

type traceCall struct {
	UUID   string                    `json:"uuid"`
	Axes   flashinfer.Object[int64]  `json:"axes"`
	Inputs flashinfer.Object[source] `json:"inputs"`
}

// source says where the contents of an input come from.
type source struct {
	Type  string `json:"type"`
	Value any    `json:"value,omitempty"`
}

// Workloads are the op's workloads that the definition covers, one per line: those with what it fixes.
func (d *Exported) Workloads() ([]byte, error) {
	var b bytes.Buffer
	op := d.from.op
	for _, call := range workload.Calls(op) {
		if !d.covers(call) {
			continue
		}
		line := trace{Definition: d.Name, Workload: traceCall{UUID: uuid(op.Name + "/" + call.Name)}}
		for _, name := range d.Axes.Names {
			if d.Axes.By[name].Value == nil {
				line.Workload.Axes.Set(name, d.sizeIn(call, name))
			}
		}
		for _, name := range d.Inputs.Names {
			if d.Inputs.By[name].Shape != nil {
				line.Workload.Inputs.Set(name, source{Type: "random"})
			} else if v := op.AttrValue(call.Attrs, name); v != nil {
				line.Workload.Inputs.Set(name, source{Type: "scalar", Value: v})
			}
		}
		text, err := flashinfer.PlainJSON(line)
		if err != nil {
			return nil, err
		}
		b.Write(append(text, '\n'))
	}
	return b.Bytes(), nil
}

// covers says whether a call has the definition's constants and dtypes, and all its arrays.
func (d *Exported) covers(call workload.Call) bool {
	for name, want := range d.from.Sizes {
		if n, known := call.Int(name); name != "*" && name != "..." && (!known || n != want) {
			return false
		}
	}
	for name, want := range d.from.Texts {
		if call.Op.AttrValue(call.Attrs, name) != any(want) {
			return false
		}
	}
	for _, v := range call.Op.DTypes {
		if t := (opdef.Type{Var: v.Name}); call.DType(t) != d.from.short(t) {
			return false
		}
	}
	return !slices.ContainsFunc(call.Without, func(name string) bool { return slices.Contains(d.Inputs.Names, name) })
}

// sizeIn is the size of an axis in a call.
func (d *Exported) sizeIn(call workload.Call, axis string) int64 {
	if axis == rows {
		n := int64(1)
		for _, size := range call.Batch {
			n *= size
		}
		return n
	}
	if meaning := d.from.meanings[axis]; meaning != nil {
		n, _ := meaning.Eval(call)
		return n
	}
	n, _ := call.Int(axis)
	return n
}

// uuid is always the same for a text.
func uuid(text string) string {
	h := sha256.Sum256([]byte(text))
	h[6], h[8] = h[6]&0x0f|0x50, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
