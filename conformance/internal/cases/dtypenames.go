package cases

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/ndarray"
)

// DTypeNames are the dtypes of the variables of a definition, or else of the first input of floating point, by their short names:
// the column of tables that names the dtype of a call.
func (c *Case) DTypeNames() string {
	var list []string
	for _, v := range c.Op.DTypes {
		if short := c.DTypes[v.Name]; !slices.Contains(list, short) {
			list = append(list, short)
		}
	}
	for i := range c.Op.Inputs {
		if d := c.DType(c.Op.Inputs[i].Type); len(list) == 0 && ndarray.IsFloat(d) {
			list = append(list, d.Short)
		}
	}
	if len(list) == 0 {
		list = append(list, c.DType(c.Op.Inputs[0].Type).Short)
	}
	return strings.Join(list, " ")
}
