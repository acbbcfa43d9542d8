package opdef

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// narrower are the dtypes of numbers of 32 bits that stand in for those of 64.
var narrower = map[string]string{"i64": "i32", "u64": "u32", "f64": "f32", "c128": "c64"}

// WideNotes notes the inputs that have numbers of 64 bits only. A framework whose numbers have 32 bits unless somebody
// switches that off cannot pass them; who says what that framework is, and how it is switched.
func WideNotes(p *Project, who string) (list diag.List) {
	for _, op := range p.Ops {
		for i, in := range op.Inputs {
			wide := op.Allowed(in)
			if slices.ContainsFunc(wide, func(short string) bool { return dtype.Must(short).Part().Bits < 64 }) {
				continue
			}
			var more []string
			for _, short := range wide {
				more = append(more, narrower[short])
			}
			hint := "add " + strings.Join(more, " and ") + " to dtypes." + in.Type.Var
			if in.Type.Var == "" {
				hint = `add I = ["` + narrower[wide[0]] + `", "` + wide[0] + `"] to dtypes, and write the type "I` + in.Type.Text[strings.Index(in.Type.Text, "["):] + `"`
			}
			at := op.Pos[tomldoc.Join(tomldoc.Element("inputs", i), "type")]
			list.AddNote(at, code.OnlyWide, hint, "%s: %s: %s cannot pass %s", op.Name, in.Name, who, diag.OneOf(wide))
		}
	}
	return list
}

// HoldsPositions says whether a dtype is of integers that positions and counts are stored in, and that large arrays have too many
// of. Integers of 8 bits are codes, bits and bytes.
func HoldsPositions(short string) bool {
	d, known := dtype.Lookup(short)
	return known && d.Code <= 1 && 8 < d.Bits && d.Bits < 64
}

// written are the arrays that the op only writes, by the key of each: the range of an input is that of what the caller gives.
func (o *Op) written() map[string]*Arg {
	all := map[string]*Arg{}
	for i := range o.Outputs {
		all[tomldoc.Element("outputs", i)] = &o.Outputs[i]
	}
	for i := range o.Scratch {
		all[tomldoc.Element("scratch", i)] = &o.Scratch[i]
	}
	return all
}

// Fits are the conditions under which the integers that the op writes hold what it puts there: "N - 1 <= 2147483647" for the
// columns of rows of N. Like those in Requires, they concern the whole call.
func (o *Op) Fits() (conditions []*expr.Expr) {
	whole := o.Whole()
	written := whole.written()
	for _, key := range slices.Sorted(maps.Keys(written)) {
		a := written[key]
		for _, short := range slices.DeleteFunc(slices.Clone(whole.Allowed(*a)), func(short string) bool { return !HoldsPositions(short) }) {
			for _, text := range fitting(a.Min, whole.most(a), dtype.Must(short)) {
				quoted := text // since nothing tells the parser which names are dtypes
				if a.Type.Var != "" && len(whole.Allowed(*a)) > 1 {
					quoted = a.Type.Var + " != '" + short + "' or " + text
					text = a.Type.Var + " != " + short + " or " + text
				}
				if whole.Switch(a) != nil {
					quoted, text = "not "+a.PresentIf+" or "+quoted, "not "+a.PresentIf+" or "+text
				}
				same := func(e *expr.Expr) bool { return e.Text == text }
				if e, err := expr.Parse(quoted); err == nil && !slices.ContainsFunc(conditions, same) {
					e.Text = text
					conditions = append(conditions, e)
				}
			}
		}
	}
	return conditions
}

// most is the largest number that an argument holds; nil if nobody says. What counts valid rows counts at most all of them.
func (o *Op) most(a *Arg) *expr.Expr {
	for _, out := range o.Outputs {
		if a.Max == nil && out.Valid == a.Name && len(out.Type.Dims) > 0 {
			return out.Type.Dims[0].Expr
		}
	}
	return a.Max
}

// fitting are the conditions under which a dtype holds numbers of a range, as far as sizes decide.
func fitting(low, high *expr.Expr, d dtype.DType) (texts []string) {
	most, least := int64(1)<<d.Bits-1, int64(0)
	if d.Code == 0 {
		most, least = most>>1, -1-most>>1
	}
	for _, end := range []struct {
		of    *expr.Expr
		is    string
		bound int64
	}{{low, ">=", least}, {high, "<=", most}} {
		switch {
		case end.of == nil || len(end.of.Symbols()) == 0:
		case end.of.Op == expr.OpIf:
			texts = append(texts, fmt.Sprintf("(%s) %s %d", end.of.Text, end.is, end.bound))
		default:
			texts = append(texts, fmt.Sprintf("%s %s %d", end.of.Text, end.is, end.bound))
		}
	}
	return texts
}

// RangeNotes notes the integers that an op writes, of which the definition does not say how large they become: if they are
// positions or counts, they stop to fit where arrays are large enough.
func RangeNotes(p *Project) (list diag.List) {
	for _, op := range p.Ops {
		if !op.grows() {
			continue
		}
		written := op.written()
		for _, key := range slices.Sorted(maps.Keys(written)) {
			a := written[key]
			given := func(in Arg) bool { return a.Type.Var != "" && in.Type.Var == a.Type.Var }
			if slices.ContainsFunc(op.Inputs, given) { // numbers of the same kind as the caller's, not positions
				continue
			}
			if i := slices.IndexFunc(op.Allowed(*a), HoldsPositions); i >= 0 && op.most(a) == nil {
				short := op.Allowed(*a)[i]
				list.AddNote(op.Pos[tomldoc.Join(key, "type")], code.NoRange, `add min and max, as in max = "N - 1": calls in which they do not fit are refused`,
					"%s: %s: nobody says whether %s can hold what the op writes", op.Name, a.Name, short)
			}
		}
	}
	return list
}

// grows says whether the arrays of an op can have any size.
func (o *Op) grows() bool {
	return slices.ContainsFunc(o.Inputs, func(in Arg) bool {
		return in.List || slices.ContainsFunc(in.Type.Dims, func(d Dim) bool { return d.Expr == nil || len(d.Expr.Symbols()) > 0 })
	})
}

// TunedNotes notes the measured parameters that are about no call of the project any more: nothing uses them.
func TunedNotes(p *Project) (list diag.List) {
	for i := range p.Tuned {
		file, said := &p.Tuned[i], map[string]bool{}
		for k := range file.Rows {
			if why := file.Rows[k].Unfit(p, ArchDevice(file.Arch)); why != "" && !said[why] {
				said[why] = true
				list.AddNote(diag.Pos{File: file.File(), Line: 1, Col: 1}, code.TunedNote, "run `opcast tune` on such a machine", "%s", why)
			}
		}
	}
	return list
}

// LSENotes notes the inputs that are log-sum-exps of another convention than all that the collection gives.
func LSENotes(p *Project) (list diag.List) {
	given := map[string]bool{}
	for _, op := range p.Ops {
		for _, out := range op.Outputs {
			given[out.LSE.String()] = true
		}
	}
	delete(given, "")
	for _, op := range p.Ops {
		for i, in := range op.Inputs {
			if in.LSE == nil || len(given) == 0 || given[in.LSE.String()] {
				continue
			}
			at := op.Pos[tomldoc.Join(tomldoc.Element("inputs", i), "lse")]
			list.AddNote(at, code.LSENote, "convert one of them", "%s: %s: no op of the collection gives a log-sum-exp to base %s that is %s for empty rows",
				op.Name, in.Name, in.LSE.Base, in.LSE.Empty)
		}
	}
	return list
}
