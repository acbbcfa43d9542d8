package opdef

import "slices"

// Autocasts are what an op may do under PyTorch's autocast with the inputs of a dtype variable: cast those that differ to the
// widest of their dtypes, which is the default; all to the dtype of autocast; all to float32.
var Autocasts = []string{"widest", "lower", "float32"}

// AutocastOf is what the op does with the inputs of a variable. One that is overwritten keeps its dtype, so the others come to
// it, if they can.
func (o *Op) AutocastOf(variable string) string {
	if o.Autocast == "" || slices.ContainsFunc(o.Mutated(), func(a Arg) bool { return a.Type.Var == variable }) {
		return Autocasts[0]
	}
	return o.Autocast
}

// Sharing are the numbers of the inputs of a dtype variable.
func (o *Op) Sharing(variable string) (places []int) {
	for i := range o.Inputs {
		if o.Inputs[i].Type.Var == variable {
			places = append(places, i)
		}
	}
	return places
}
