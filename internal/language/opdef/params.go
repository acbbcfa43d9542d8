package opdef

import (
	"fmt"
	"slices"
	"strings"
)

// Param is a number that a kernel takes beside its arguments, such as the rows of a block.
type Param struct {
	Name string
	// Values are those that it can have, at least two. The first is meant where nothing was measured.
	Values []int64
}

// MaxChoices is how many choices of parameters a kernel has at most: the suite tries each.
const MaxChoices = 64

// Choices are all choices of the kernel's parameters, a value for each, the last turning fastest. A kernel without
// parameters has none.
func (k *Kernel) Choices() [][]int64 {
	if len(k.Params) == 0 {
		return nil
	}
	all := [][]int64{nil}
	for _, p := range k.Params {
		var longer [][]int64
		for _, choice := range all {
			for _, value := range p.Values {
				longer = append(longer, append(slices.Clone(choice), value))
			}
		}
		all = longer
	}
	return all
}

// WithParams is the name by which the kernel is forced with these parameters: "product[rows=64,step=2]".
func (k *Kernel) WithParams(choice []int64) string {
	parts := make([]string, len(choice))
	for i, value := range choice {
		parts[i] = fmt.Sprintf("%s=%d", k.Params[i].Name, value)
	}
	return k.Name + "[" + strings.Join(parts, ",") + "]"
}

// WithValues is the kernel's name with what its parameters can be: "product[rows=64|128,step=1|2]".
func (k *Kernel) WithValues() string {
	if len(k.Params) == 0 {
		return k.Name
	}
	parts := make([]string, len(k.Params))
	for i, p := range k.Params {
		parts[i] = p.Name + "=" + strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Values), "[]"), " ", "|")
	}
	return k.Name + "[" + strings.Join(parts, ",") + "]"
}

// WithoutParams is the kernel's own name in one that WithParams makes.
func WithoutParams(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name
}
