package cpp

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/gen/internal/view"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef"
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
	return view.Draft{Template: fw.Handlers.Template, Path: path.Join("adaptors", fw.Name, "csrc/gen/handlers.gen.cc"), Data: all}
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

// HandlerOutputs initialises the op's outputs there: saved, number of the input that must be given, or behind all inputs that of the
// attribute that must be true, and number of the list.
func (v *handlerOp) HandlerOutputs() string {
	var names []string
	for _, a := range v.ABIAttrs() {
		names = append(names, a.Name)
	}
	return v.outputs(names)
}

// StableOutputs are the same in the table of PyTorch's handlers, which has all attributes.
func (v *handlerOp) StableOutputs() string { return v.outputs(v.AttrNames()) }

func (v *handlerOp) outputs(attrs []string) string {
	var list []string
	for i := range v.Outputs {
		out := v.Outputs[i]
		number := slices.Index(append(opdef.ArgNames(v.Inputs), attrs...), out.PresentIf)
		list = append(list, fmt.Sprintf("{%t, %d, %d}", out.Saved, number, slices.Index(v.Lists(), out.Per)))
	}
	return strings.Join(list, ", ")
}

// HandlerKind is the enumerator of an attr's kind in xla_call.h.
func (v *handlerOp) HandlerKind(a *opdef.Attr) string {
	if a.Len != 0 {
		return "kInts"
	}
	return attrKinds[a.Type]
}

var attrKinds = map[string]string{"int": "kInt", "float": "kFloat", "bool": "kBool", "str": "kString"}

// HandlerAttrs initialises the attributes there: name, kind, and the default that every call has which leaves them out.
func (v *handlerOp) HandlerAttrs() (rows []string) {
	for _, a := range v.ABIAttrs() {
		row := fmt.Sprintf("{%q, Attr::%s", a.Name, v.HandlerKind(a))
		if !a.MayBeNone() {
			row += v.handlerDefault(a)
		}
		rows = append(rows, row+"}")
	}
	return rows
}

// handlerDefault is the end of a row: fixed, integer, number, text, list and its length, as far as one is needed.
func (v *handlerOp) handlerDefault(a *opdef.Attr) string {
	switch value := a.Default.(type) {
	case nil:
		return ""
	case []int64:
		if len(value) == 0 {
			return ", true"
		}
		return fmt.Sprintf(", true, 0, 0, nullptr, %s, %d", v.handlerList(a), len(value))
	case string:
		return ", true, 0, 0, " + stringLiteral(value)
	case bool:
		return fmt.Sprintf(", true, %t", value)
	}
	if a.Type == "float" {
		return ", true, 0, " + scalar(a.Default)
	}
	return ", true, " + scalar(a.Default)
}

// HandlerLists declare the lists that are defaults.
func (v *handlerOp) HandlerLists() (lines []string) {
	for _, a := range v.ABIAttrs() {
		if list, ok := a.Default.([]int64); ok && len(list) > 0 && !a.MayBeNone() {
			items := make([]string, len(list))
			for i, n := range list {
				items[i] = intLiteral(n)
			}
			lines = append(lines, fmt.Sprintf("constexpr int64_t %s[] = {%s};", v.handlerList(a), strings.Join(items, ", ")))
		}
	}
	return lines
}

func (v *handlerOp) handlerList(a *opdef.Attr) string { return "k" + v.Pascal() + "_" + a.Name }
