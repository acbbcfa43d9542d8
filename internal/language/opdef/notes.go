package opdef

import (
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// narrower are the dtypes of 32 bits that stand in for those of 64.
var narrower = map[string]string{"i64": "i32", "u64": "u32", "f64": "f32"}

// WideNotes notes the inputs that have dtypes of 64 bits only. A framework whose numbers have 32 bits unless somebody
// switches that off cannot pass them; who says what that framework is, and how it is switched.
func WideNotes(p *Project, who string) (list diag.List) {
	for _, op := range p.Ops {
		for i, in := range op.Inputs {
			wide := op.Allowed(in)
			if slices.ContainsFunc(wide, func(short string) bool { return dtype.Must(short).Bits < 64 }) {
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
