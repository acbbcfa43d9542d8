package calls

import "github.com/opcast/opcast/internal/language/opdef"

// Group is an argument and how many arrays it has; Single for one that is no list.
type Group [2]any

// Single is the count of an argument that is no list.
const Single = -1

// Lists say which arrays of a call belong to lists: of its inputs, and of its results.
type Lists struct {
	Inputs  []Group `json:"inputs"`
	Outputs []Group `json:"outputs"`
	Results []Group `json:"results"`
	// Lengths are those of the lists among the inputs, which the library takes before all other arguments.
	Lengths []int64 `json:"lengths"`
}

// ListsOf describes the lists of an op, which is an instance; nil for an op without any.
func ListsOf(op *opdef.Op) *Lists {
	if op.InstanceOf == nil {
		return nil
	}
	l := &Lists{Inputs: groups(op.Inputs), Outputs: groups(op.Outputs), Results: append(groups(op.Returned()), groups(op.Mutated())...), Lengths: []int64{}}
	for _, g := range l.Inputs {
		if n, _ := g[1].(int); n != Single {
			l.Lengths = append(l.Lengths, int64(n))
		}
	}
	return l
}

// lists are those of the call.
func (c *Call) lists() *Lists {
	if c.Lists != nil {
		return c.Lists
	}
	return ListsOf(c.Op)
}

// groups puts arrays that follow each other in one list together.
func groups(args []opdef.Arg) []Group {
	out := []Group{}
	for _, a := range args {
		switch {
		case a.In == "":
			out = append(out, Group{a.Name, Single})
		case a.At == 0:
			out = append(out, Group{a.In, 1})
		default:
			out[len(out)-1][1] = a.At + 1
		}
	}
	return out
}
