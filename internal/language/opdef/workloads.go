package opdef

import (
	"fmt"
	"strings"
)

// Workload is a call of some real model, by name: what people benchmark.
type Workload struct {
	Name string
	// Sizes has every size, Batch the leading dims, DTypes the dtypes that variables stand for and Attrs values of
	// attributes, both where the author says so. Without are the optional inputs that the call leaves out.
	Sizes map[string]int64
	// Lengths are how many arrays the lists have.
	Lengths map[string]int
	// Elements has those that differ from one array of a list to the next, for each array.
	Elements map[string][]int64
	Batch    []int64
	DTypes   map[string]string
	Attrs    map[string]any
	Without  []string
	// Swept says that it is made from one of the definition, whose workloads have none.
	Swept *Swept
}

// Swept is a workload of a definition in which a size has another value.
type Swept struct {
	Workload, Size string
	Value          int64
}

// Batch stands for the product of the leading dims in flops, as in kernels.
const Batch = "batch"

// Int makes a workload the environment of flops: sizes, and the product of the leading dims.
func (w *Workload) Int(name string) (int64, bool) {
	if name == Batch {
		product := int64(1)
		for _, n := range w.Batch {
			product *= n
		}
		return product, true
	}
	if v, ok := w.Sizes[name]; ok {
		return v, true
	}
	size, number, _ := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	if list, i := w.Elements[size], 0; number != "" {
		if _, err := fmt.Sscan(number, &i); err == nil && i < len(list) {
			return list[i], true
		}
	}
	return IntValue(w.Attrs[name])
}

// List returns the value of an attribute that is a list.
func (w *Workload) List(name string) ([]int64, bool) {
	if v, ok := w.Elements[name]; ok {
		return v, true
	}
	if n, ok := w.Lengths[name]; ok { // of which len is all that expressions ask for
		return make([]int64, n), true
	}
	v, ok := w.Attrs[name].([]int64)
	return v, ok
}

// Float returns the value of a float attribute.
func (w *Workload) Float(name string) (float64, bool) {
	v, ok := w.Attrs[name].(float64)
	return v, ok
}

// Word returns the value of a str attribute, or the short name of a dtype.
func (w *Workload) Word(name string) (string, bool) {
	if short, ok := w.DTypes[name]; ok {
		return short, true
	}
	v, ok := w.Attrs[name].(string)
	return v, ok
}

// Takes reports whether the workload is a call with a choice of dtypes.
func (w Workload) Takes(dtypes map[string]string) bool {
	for name, short := range w.DTypes {
		if dtypes[name] != short {
			return false
		}
	}
	return true
}
