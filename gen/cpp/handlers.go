package cpp

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/view"
	"github.com/opcast/opcast/internal/dtype"
	"github.com/opcast/opcast/internal/framework"
	"github.com/opcast/opcast/internal/opdef"
)

// Handlers gives the C++ that a framework calls for each op.
func Handlers(c *view.Collection, fw framework.Framework) view.Draft {
	m := &c.Project.Manifest
	all := struct {
		Header, Name, Namespace string
		DTypes                  []dtype.DType
		Ops                     []*handlerOp
	}{Header: view.Header(), Name: m.Name, Namespace: m.Unique()}
	for _, d := range dtype.Table {
		if d.XLA != "" && d.Bits >= 8 { // XLA packs narrower elements in its own way
			all.DTypes = append(all.DTypes, d)
		}
	}
	for _, op := range c.Ops {
		all.Ops = append(all.Ops, &handlerOp{op})
	}
	return view.Draft{Template: fw.Handlers.Template, Path: path.Join("adaptors", fw.Name, "csrc", "handlers.gen.cc"), Data: all}
}

// handlerOp is an op as the table of XLA handlers sees it.
type handlerOp struct{ *view.Compiled }

// HandlerInputs initialises the op's inputs in the table of XLA handlers: optional, mutated, number of the list.
func (v *handlerOp) HandlerInputs() string {
	var list []string
	for i := range v.Inputs {
		list = append(list, fmt.Sprintf("{%t, %t, %d}", v.Inputs[i].Optional, v.Inputs[i].Mutated, slices.Index(v.Lists(), v.Inputs[i].Name)))
	}
	return strings.Join(list, ", ")
}

// HandlerOutputs initialises the op's outputs there: saved, number of the input that must be given, number of the list.
func (v *handlerOp) HandlerOutputs() string {
	var list []string
	for i := range v.Outputs {
		out := v.Outputs[i]
		number := slices.IndexFunc(v.Inputs, func(a opdef.Arg) bool { return a.Name == out.PresentIf })
		list = append(list, fmt.Sprintf("{%t, %d, %d}", out.Saved, number, slices.Index(v.Lists(), out.Per)))
	}
	return strings.Join(list, ", ")
}

// HandlerKind is the enumerator of an attr's kind in xla_call.h.
func (v *handlerOp) HandlerKind(a *opdef.Attr) string {
	if a.Len != 0 {
		return "kInts"
	}
	return map[string]string{"int": "kInt", "float": "kFloat", "bool": "kBool", "str": "kString"}[a.Type]
}
