package cases

import "github.com/opcast/opcast/internal/language/opdef"

// TestedLength is how many arrays the lists of an op have in its checks: two tell first from second, and cost little.
const TestedLength = 2

// Tested is the op as the checks see it: with the arrays of lists one by one.
func Tested(op *opdef.Op) *opdef.Op {
	if !op.HasLists() {
		return op
	}
	return op.Instance(func(string) int { return TestedLength })
}

// ownLeads are leading dims that arrays of lists have for themselves, by the number of the array: another number of dims for
// each.
var ownLeads = [][]int64{{2, 3}, {4}, {}, {1, 5}}

// chooseOwnLeads gives the arrays of lists leading dims of their own. Those of one number share them.
func (c *Case) chooseOwnLeads(p Plan) {
	for _, a := range append(c.Op.Inputs[:len(c.Op.Inputs):len(c.Op.Inputs)], c.Op.Outputs...) {
		if !a.Own {
			continue
		}
		if c.Leads == nil {
			c.Leads = map[string][]int64{}
		}
		lead, given := p.Leads[a.Name]
		if !given {
			lead = ownLeads[(a.At+p.Shift)%len(ownLeads)]
		}
		c.Leads[a.Name] = OrEmpty(lead)
	}
}
