package opdef_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/language/opdef"
)

// Parameters come as Order says; what stands before a required one is needed, too.
func TestParameters(t *testing.T) {
	op := &opdef.Op{
		Inputs: []opdef.Arg{{Name: "x"}, {Name: "weight"}, {Name: "bias", Optional: true}},
		Attrs:  []opdef.Attr{{Name: "eps", HasDefault: true}, {Name: "k"}, {Name: "mode", HasDefault: true}},
	}
	for order, want := range map[string]string{ // ! is needed, / begins what has to be named
		"":                         "x! weight! bias / eps k! mode",
		"x weight bias":            "x! weight! bias / eps k! mode",
		"x bias eps weight":        "x! bias! eps! weight! / k! mode",
		"weight x eps bias":        "weight! x! eps bias / k! mode",
		"mode bias x k weight eps": "mode! bias! x! k! weight! eps /",
		"x weight eps k mode bias": "x! weight! eps! k! mode bias /",
	} {
		op.Order = strings.Fields(order)
		var got []string
		for i, p := range op.Parameters() {
			if !p.Positional && !slices.Contains(got, "/") {
				got = append(got, "/")
			}
			got = append(got, p.Name())
			if p.Needed {
				got[len(got)-1] += "!"
			}
			if i+1 == len(op.Parameters()) && p.Positional {
				got = append(got, "/")
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("order %q: got %s, want %s", order, text, want)
		}
	}
}
