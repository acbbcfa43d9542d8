package agreement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
)

var signatureCheck = check.Check{
	ID: "signature", Group: check.GroupAcross,
	Doc:     "names, order, kinds and defaults of parameters are the definition's",
	Needs:   check.TakesKeywords,
	Foreign: check.Foreign{Library: check.AboutGenerated.Library, Functions: "its parameters are those that its author gave it"},
	Run:     checkSignature,
}

// checkSignature compares the public function with the definition: parameters, their order and kind, defaults, doc.
func checkSignature(t *check.T) error {
	d, ok := t.Caller.(calls.Describer)
	if !ok {
		return fmt.Errorf("%s cannot describe its functions", t.Caller.Name())
	}
	got, err := d.Describe(t.Ctx, t.Op)
	if err != nil {
		return err
	}
	t.CurrentRow().Checked++
	if text := signatureDifference(t.Op.Whole(), got.Parameters, check.OutputsGiven(t.Op, t.Caller) == nil); text != "" {
		t.Fail(nil, "signature", "%s", text)
	}
	if !strings.Contains(folded(got.Doc), folded(t.Op.Doc)) {
		t.Fail(nil, "documentation", "%q does not contain %q", report.FirstLine(got.Doc), t.Op.Doc)
	}
	public := map[string]bool{}
	for _, name := range got.Public {
		public[name] = true
	}
	for _, op := range t.Env.Project.Ops {
		if !public[op.Name] {
			t.Fail(nil, "package", "lacks %s", op.Name)
		}
	}
	return nil
}

// folded is a text with one blank for every white space: docstrings break long lines.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// signatureDifference says how parameters differ from the definition, or "".
func signatureDifference(op *opdef.Op, got []calls.Parameter, mayOut bool) string {
	var want []calls.Parameter
	parameters := op.Parameters()
	for _, p := range parameters {
		want = append(want, calls.Parameter{Name: p.Name(), Keyword: !p.Positional, Required: p.Needed})
	}
	if mayOut && len(got) == len(want)+1 && got[len(got)-1].Name == "out" && got[len(got)-1].Keyword {
		got = got[:len(got)-1]
	}
	if len(got) != len(want) {
		return fmt.Sprintf("got %d parameters, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Name != w.Name || g.Keyword != w.Keyword || g.Required != w.Required {
			return fmt.Sprintf("parameter %d: got %s, want %s", i, g, w)
		}
		if a := parameters[i].Attr; a != nil && !w.Required && !defaultIs(a, g.Default) {
			return fmt.Sprintf("%s: got default %v, want %v", g.Name, g.Default, a.Default)
		}
	}
	return ""
}

// defaultIs compares a default as Python has it with the definition. What the backend computes, and a dtype that follows
// an input's, is None in Python.
func defaultIs(a *opdef.Attr, got map[string]any) bool {
	_, none := got["none"]
	switch want := a.Default.(type) {
	case float64:
		text, _ := got["float"].(string)
		v, err := strconv.ParseFloat(text, 64)
		return err == nil && v == want
	case int64:
		return got["int"] == float64(want) || fmt.Sprint(got["ints"]) == fmt.Sprint(slices.Repeat([]float64{float64(want)}, max(a.Len, 0)))
	case []int64:
		return fmt.Sprint(got["ints"]) == fmt.Sprint(want) || len(want) > 0 && got["int"] == float64(want[0])
	case bool:
		return got["bool"] == want
	case string:
		return got["str"] == want || a.Type == "dtype" && none
	}
	return none
}
