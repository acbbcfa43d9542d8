package opdef

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/dtype"
)

// HasIndices says whether an input holds integers that can lead a kernel out of its arrays, and has a range. Every call on a CPU
// checks them.
func (o *Op) HasIndices(a *Arg) bool {
	ranged := a.Min != nil || a.Max != nil || a.Sorted
	return ranged && !a.Unchecked && !slices.ContainsFunc(o.Allowed(*a), func(short string) bool {
		d, _ := dtype.Lookup(short)
		return !d.Indexes()
	})
}

// RangeText is what the definition says of an input's elements: "From 0 to N, ascending."; "" where it is silent.
func (a *Arg) RangeText() string {
	var parts []string
	switch {
	case a.Min != nil && a.Max != nil:
		parts = append(parts, "from "+a.Min.Text+" to "+a.Max.Text)
	case a.Min != nil:
		parts = append(parts, "at least "+a.Min.Text)
	case a.Max != nil:
		parts = append(parts, "at most "+a.Max.Text)
	}
	if a.Sorted {
		parts = append(parts, "ascending")
	}
	if a.Unchecked {
		parts = append(parts, "unchecked")
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", ") + "."
	return strings.ToUpper(text[:1]) + text[1:]
}

// HasPacked says whether elements of some argument hold several numbers each.
func (o *Op) HasPacked() bool {
	return slices.ContainsFunc(slices.Concat(o.Inputs, o.Outputs), func(a Arg) bool { return a.Packs != "" })
}

// Convention says what else the elements mean: a log-sum-exp, or packed numbers; "" where the definition is silent.
func (a *Arg) Convention() string {
	if d, packed := dtype.Lookup(a.Packs); packed {
		return "Each element holds numbers of " + d.Long + ", the first in its lowest bits."
	}
	return a.LSE.String()
}
