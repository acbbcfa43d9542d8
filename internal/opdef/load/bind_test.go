package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/opdef"
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
