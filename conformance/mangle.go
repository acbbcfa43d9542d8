package conformance

import (
	"encoding/json"
	"slices"

	"github.com/opcast/opcast/internal/tvmffi"
)

// Calls that only raw memory can express: the process that calls from Go changes the arguments as the options say.
const (
	groupMangled = "mangled"
	mangledCall  = "call"
)

// others are values of types that an argument does not have, by the name that the options use.
var others = map[string]any{
	"nothing": nil, "an int": int64(-1), "a bool": true, "a float": 1.5, "a text": "nonsense", "a list": []int64{3, -1},
}

// The other ways in which an argument is mangled.
const (
	mangleNull     = "null memory"
	mangleNegative = "a negative size"
	mangleMissing  = "missing"
	mangleTwice    = "twice"
)

// mangling says which argument of a call is changed and what becomes of it; nothing if it does not say what.
type mangling struct {
	at int
	as string
}

// manglingOf reads the options of a request.
func manglingOf(options tagged) mangling {
	var o struct {
		Dict struct {
			At struct{ Int int }
			As struct{ Str string }
		}
	}
	text, err := json.Marshal(options)
	if err != nil || json.Unmarshal(text, &o) != nil {
		return mangling{}
	}
	return mangling{o.Dict.At.Int, o.Dict.As.Str}
}

// apply returns the changed arguments.
func (m mangling) apply(args []any) []any {
	if m.as == "" || len(args) == 0 {
		return args
	}
	at := m.at % len(args)
	args = slices.Clone(args)
	x, isArray := args[at].(*tvmffi.Tensor)
	switch {
	case m.as == mangleMissing:
		return slices.Delete(args, at, at+1)
	case m.as == mangleTwice:
		return slices.Insert(args, at, args[at])
	case m.as == mangleNull && isArray:
		copied := *x
		copied.Data = nil
		args[at] = &copied
	case m.as == mangleNegative && isArray && len(x.Shape) > 0:
		copied := *x
		copied.Shape = slices.Clone(x.Shape)
		copied.Shape[len(x.Shape)-1] = -1
		args[at] = &copied
	default:
		if v, known := others[m.as]; known {
			args[at] = v
		}
	}
	return args
}
