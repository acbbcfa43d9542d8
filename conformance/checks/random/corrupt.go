package random

import (
	"encoding/json"
	"slices"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/internal/tvmffi"
)

// Calls that only raw memory can express: the process that calls from Go changes the arguments as the options say.
const (
	GroupCorrupt = "mangled"
	CorruptCall  = "call"
)

// otherTypes are values of types that an argument does not have, by the name that the options use.
var otherTypes = map[string]any{
	"nothing": nil, "an int": int64(-1), "a bool": true, "a float": 1.5, "a text": "nonsense", "a list": []int64{3, -1},
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
		if v, known := otherTypes[m.As]; known {
			args[at] = v
		}
	}
	return args
}
