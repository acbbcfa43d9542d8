package random

import (
	"encoding/json"
	"slices"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/tvmffi"
)

// Calls that only raw memory can express: the process that calls from Go changes the arguments as the options say.
const (
	GroupCorrupt = "mangled"
	CorruptCall  = "call"
)

// otherTypes are values of types that an argument does not have, by the name that the options use. The worker in Python has
// the same ones.
var otherTypes = map[string]any{
	"nothing": nil, "an int": int64(-1), "a bool": true, "a float": 1.5, "a text": "nonsense", "a list": []int64{3, -1},
}

// otherValue is one of them. A list is a copy, since the library reads it as an array, to which a kernel may write.
func otherValue(as string) (any, bool) {
	v, known := otherTypes[as]
	if list, isList := v.([]int64); isList {
		v = slices.Clone(list)
	}
	return v, known
}

// The other ways in which an argument is mangled.
const (
	CorruptNull     = "null memory"
	CorruptNegative = "a negative size"
	CorruptMissing  = "missing"
	CorruptTwice    = "twice"
)

// Corruption says which argument of a call is changed and what becomes of it; nothing if it does not say what.
type Corruption struct {
	At int
	As string
}

// CorruptionOf reads the options of a request.
func CorruptionOf(options calls.Tagged) Corruption {
	var o struct {
		Dict struct {
			At struct{ Int int }
			As struct{ Str string }
		}
	}
	text, err := json.Marshal(options)
	if err != nil || json.Unmarshal(text, &o) != nil {
		return Corruption{}
	}
	return Corruption{o.Dict.At.Int, o.Dict.As.Str}
}

// Apply returns the changed arguments.
func (m Corruption) Apply(args []any) []any {
	if m.As == "" || len(args) == 0 {
		return args
	}
	at := m.At % len(args)
	args = slices.Clone(args)
	x, isArray := args[at].(*tvmffi.Tensor)
	switch {
	case m.As == CorruptMissing:
		return slices.Delete(args, at, at+1)
	case m.As == CorruptTwice:
		return slices.Insert(args, at, args[at])
	case m.As == CorruptNull && isArray:
		copied := *x
		copied.Data = nil
		args[at] = &copied
	case m.As == CorruptNegative && isArray && len(x.Shape) > 0:
		copied := *x
		copied.Shape = slices.Clone(x.Shape)
		copied.Shape[len(x.Shape)-1] = -1
		args[at] = &copied
	default:
		if v, known := otherValue(m.As); known {
			args[at] = v
		}
	}
	return args
}

// corrupted is a call as the library sees it after the change that its options ask for, so that the rules can judge it; nil
// for one that no library accepts: the number of arguments is wrong, memory is missing, or there is a number for an array.
func corrupted(call *calls.Call) *calls.Call {
	at, _ := call.Options["at"].(int64)
	as, _ := call.Options["as"].(string)
	v, known := otherValue(as)
	if !known {
		return nil
	}
	changed := call.Clone()
	attrs := slices.DeleteFunc(slices.Clone(call.Op.Attrs), func(a opdef.Attr) bool { return a.Binds != "" })
	inputs := len(call.Out)
	others := inputs + len(call.Inputs)
	i := int(at) % (others + len(attrs) + len(call.Op.Scratch))
	x, fits := arrayOf(v)
	switch {
	case i >= others+len(attrs): // nothing follows from scratch
	case i >= others && v == nil:
		delete(changed.Attrs, attrs[i-others].Name)
	case i >= others:
		changed.Attrs[attrs[i-others].Name] = v
	case !fits:
		return nil
	case i < inputs:
		changed.Out[i] = x
	case x == nil:
		changed.Inputs[i-inputs] = nil
	default:
		changed.Inputs[i-inputs] = x
	}
	return changed
}

// arrayOf is the array as which the library reads a value: nil for nothing, and none at all for a number or a text.
func arrayOf(v any) (x *calls.Tensor, fits bool) {
	list, isList := v.([]int64)
	if !isList {
		return nil, v == nil
	}
	values := make([]float64, len(list))
	for i, n := range list {
		values[i] = float64(n)
	}
	return &calls.Tensor{Array: ndarray.FromFloats(dtype.Must("i64"), []int64{int64(len(list))}, values)}, true
}
