package load

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef"
)

// format prints a step, with the name of its input, as one line.
func format(op *opdef.Op, s opdef.Step) string {
	where := fmt.Sprintf("%s[%d]", op.Inputs[s.Input].Name, s.Dim)
	switch s.Kind {
	case opdef.BindBatch:
		return "* = " + where
	case opdef.CheckBatch:
		return "* == " + where
	case opdef.BindSize:
		return fmt.Sprintf("%s * %s + %s = %s", s.Coef.Text, s.Symbol, s.Const.Text, where)
	}
	return fmt.Sprintf("%s == %s", strings.Join(s.Expr.Symbols(), " "), where)
}

// TestSteps holds the binding rule: what solves what, and in which order.
func TestSteps(t *testing.T) {
	for _, test := range []struct{ name, inputs, outputs, more, want string }{
		{"rows", "x: T[*, N]; w: T[N]", "y: T[*, N]", "", "* = x[0]; 1 * N + 0 = x[1]; N == w[0]"},
		{"multiple", "x: T[*, 2*D]", "y: T[*, D]", "", "* = x[0]; 2 * D + 0 = x[1]"},
		{"offset first", "p: i32[B + 1]; x: T[B]", "y: T[B]", "", "1 * B + 1 = p[0]; B == x[0]"},
		{"offset last", "x: T[B]; p: i32[B + 1]", "y: T[B]", "", "1 * B + 0 = x[0]; B == p[0]"},
		{"product", "x: T[H]; y: T[B*H]", "z: T[B]", "", "1 * H + 0 = x[0]; H * B + 0 = y[0]"},
		{"product before its factor", "y: T[B*H]; x: T[H]", "z: T[B]", "", "1 * H + 0 = x[0]; H * B + 0 = y[0]"},
		{"inside one input", "x: T[B*H, H]", "z: T[B]", "", "1 * H + 0 = x[1]; H * B + 0 = x[0]"},
		{"floor waits", "w: T[O, C // 2]; x: T[C]", "z: T[O]", "", "1 * O + 0 = w[0]; 1 * C + 0 = x[0]; C == w[1]"},
		{"linear", "x: T[2*(N + 1) - N*3 + 4]", "z: T[N]", "", "-1 * N + 6 = x[0]"},
		{"attribute", "x: T[C // groups, C]", "z: T[C]", `attrs = [{ name = "groups", type = "int", default = 1, doc = "A." }]`, "1 * C + 0 = x[1]; C groups == x[0]"},
		{"let", "x: T[P]; y: T[D]", "z: T[D]", `let.P = "2*D"`, "2 * D + 0 = x[0]; D == y[0]"},
		{"optional", "x: T[*, N]; m?: T[*, M]; b?: T[N, M2]", "y: T[N]", "", "* = x[0]; 1 * N + 0 = x[1]; * == m[0]; 1 * M + 0 = m[1]; N == b[0]; 1 * M2 + 0 = b[1]"},
		{"broadcast", "x: T[..., N]; w: T[..., N]", "y: T[..., N]", "", "* = x[0]; 1 * N + 0 = x[1]; * = w[0]; N == w[1]"},
		{"list", "x: T[N]; xs+: T[n, N]", "y: T[sum(n), N, len(xs)]", "", "1 * N + 0 = x[0]; 1 * n + 0 = xs[0]; N == xs[1]"},
		{"lists with sizes in common", "xs+: T[n, D]; ws+: T[n]", "ys+xs: T[n, D]", "", "1 * n + 0 = xs[0]; 1 * D + 0 = xs[1]; n == ws[0]"},
		{"size of all arrays", "xs+: T[n, D]", "y: T[D, n]", "", "1 * n + 0 = xs[0]; 1 * D + 0 = xs[1]"},
		{"own leading dims", "xs+: T[*]; ms+: T[*, N]", "ys+xs: T[*]", "", "* = xs[0]; * == ms[0]; 1 * N + 0 = ms[1]"},
		{"length of a list", "xs+: T[n]; w: T[len(xs)]", "y: T[sum(n)]", "", "1 * n + 0 = xs[0]; xs == w[0]"},
		{"sum over a list", "w: T[sum(n) + m]; xs+: T[n]; x: T[m]", "y: T[sum(n)]", "", "1 * n + 0 = xs[0]; 1 * m + sum(n) = w[0]; m == x[0]"},
		{"opposite conditions", "x: T[S if a == 'p' else H, H if a == 'p' else S]; y: T[H if a == 'q' else S]", "z: T[S, H]", `attrs = [{ name = "a", type = "str", one_of = ["p", "q"], doc = "A." }]`, "1 * S + 0 = x[0]; 1 * H + 0 = x[1]; 1 * H + 0 = x[0]; 1 * S + 0 = x[1]; S == y[0]; H == y[0]"},
		{"constants", "x: T[3, N]; y: T[]", "z: T[0]", "", " == x[0]; 1 * N + 0 = x[1]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			op := load(t, with(test.inputs, test.outputs, test.more))
			var got []string
			for _, s := range op.Steps {
				got = append(got, format(op, s))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLists: which sizes and leading dims the arrays of a list have for themselves, and which lists are of one length.
func TestLists(t *testing.T) {
	for _, test := range []struct{ name, inputs, outputs, more, perElement, own, partners string }{
		{"own size", "xs+: T[n]", "ys+xs: T[n]", "", "n", "", "xs=xs"},
		{"sum and length", "xs+: T[n]", "y: T[sum(n), len(xs)]", "", "n", "", "xs=xs"},
		{"size of another input", "x: T[n]; xs+: T[n]", "y: T[n]", "", "", "", "xs=xs"},
		{"size of an output", "xs+: T[n, m]", "y: T[n]", "", "m", "", "xs=xs"},
		{"sum in an input", "w: T[sum(n)]; xs+: T[n]", "ys+xs: T[n]", "", "n", "", "xs=xs"},
		{"size of a let", "xs+: T[n, m]", "ys+xs: T[P]", `let.P = "m + 1"`, "n", "", "xs=xs"},
		{"sum in a let", "xs+: T[n]", "y: T[P]", `let.P = "sum(n)"`, "n", "", "xs=xs"},
		{"size of scratch", "xs+: T[n, m]", "ys+xs: T[n]", `scratch = [{ name = "s", type = "T[n]" }]`, "m", "", "xs=xs"},
		{"sliced", "xs+: T[n, m]", "ys+xs: T[n, m]", `parallel = ["n"]`, "m", "", "xs=xs"},
		{"chain", "ps+: T[k]; bs+: T[k, m]; cs+: T[m]; ds+: T[d]", "ys+ds: T[d]", "", "d k m", "", "bs=ps cs=ps ds=ds ps=ps"},
		{"chain backwards", "ps+: T[k]; bs+: T[m]; cs+: T[k, m]", "y: T[sum(k)]", "", "k m", "", "bs=ps cs=ps ps=ps"},
		{"shared size", "xs+: T[n, N]; ws+: T[m, N]", "y: T[N]", "", "m n", "", "ws=ws xs=xs"},
		{"own leading dims", "xs+: T[*]; ws+: T[*, m]; vs+: T[k]", "ys+ws: T[*]", "", "k m", "ws xs ys", "vs=vs ws=xs xs=xs"},
		{"leading dims of an input", "x: T[*]; xs+: T[*]", "ys+xs: T[*]", "", "", "", "xs=xs"},
		{"leading dims of an output", "xs+: T[*]; ws+: T[*]", "y: T[*]", "", "", "", "ws=ws xs=xs"},
		{"leading dims of scratch", "xs+: T[*]", "ys+xs: T[*]", `scratch = [{ name = "s", type = "T[*]" }]`, "", "", "xs=xs"},
	} {
		t.Run(test.name, func(t *testing.T) {
			op := load(t, with(test.inputs, test.outputs, test.more))
			var own, partners []string
			for _, a := range slices.Concat(op.Inputs, op.Outputs) {
				if a.Own {
					own = append(own, a.Name)
				}
			}
			for _, list := range op.Lists() {
				partners = append(partners, list+"="+op.Partner(list))
			}
			slices.Sort(own)
			slices.Sort(partners)
			got := []string{strings.Join(op.PerElement, " "), strings.Join(own, " "), strings.Join(partners, " ")}
			if diff := cmp.Diff([]string{test.perElement, test.own, test.partners}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
