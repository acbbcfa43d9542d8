package expr

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

// values is an Env of single numbers and of lists.
type values struct {
	ints   map[string]int64
	lists  map[string][]int64
	floats map[string]float64
	words  map[string]string
}

func (v values) Int(name string) (int64, bool) { n, ok := v.ints[name]; return n, ok }

func (v values) List(name string) ([]int64, bool) { l, ok := v.lists[name]; return l, ok }

func (v values) Float(name string) (float64, bool) { f, ok := v.floats[name]; return f, ok }

func (v values) Word(name string) (string, bool) { w, ok := v.words[name]; return w, ok }

var testEnv = values{
	floats: map[string]float64{"eps": 0.5},
	words:  map[string]string{"layout": "NHD", "T": "bf16", "U": "f32"},
	ints:   map[string]int64{"N": 7, "D": 64, "M": -7, "Z": 0},
	lists:  map[string][]int64{"stride": {2, 3}, "n": {1, 2, 3}},
}

// TestEval holds the results against what Python prints for the same text.
func TestEval(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
	}{
		{"N", 7}, {"2*N + 1", 15}, {"1 + 2 * 3", 7}, {"(1 + 2) * 3", 9}, {"10 - 3 - 2", 5}, {"- 2 ** 2", -4}, {"2 ** 3 ** 2", 512},
		{"-7 // 2", -4}, {"7 // -2", -4}, {"-7 % 3", 2}, {"7 % -3", -2}, {"M // 2 * 2 + M % 2", -7}, {"ceildiv(N, 2)", 4}, {"ceildiv(M, 2)", -3},
		{"min(N, 3, D)", 3}, {"max(N, 3, D)", 64}, {"stride[1]", 3}, {"sum(n)", 6}, {"len(n)", 3}, {"is_pow2(D)", 1}, {"is_pow2(N) or is_pow2(M)", 0}, {"is_pow2(Z)", 0}, {"is_pow2(2 ** 62)", 1},
		{"not is_pow2(N + 1) and is_pow2(1)", 0}, {"0 ** 0", 1},
		{"N == 7", 1}, {"N != 7", 0}, {"N < 8 and D >= 64", 1}, {"not N < 8 or N > D", 0}, {"not not N", 1}, {"Z == 0 or N % Z == 0", 1},
		{"Z != 0 and N % Z == 0", 0}, {"1 + 2 == 3", 1}, {"-9223372036854775807 - 1", math.MinInt64}, {"3 ** 39", 4052555153018976267},
		{"9223372036854775807 % -1", 0}, {"(-2) ** 63", math.MinInt64},
		{"layout == 'NHD'", 1}, {`"NHD" != layout`, 0}, {"N if layout == 'NHD' else D", 7}, {"N if layout == 'HND' else D // 2 if N > 9 else M", -7},
		{"2 * (1 if layout == 'NHD' and N > 1 else 1 // Z)", 2}, {"T == U", 0}, {"T == T or 1 // Z > 0", 1}, {"eps > 0", 1}, {"0.25 >= eps", 0},
		{"eps < N", 1}, {"eps == 0.5 and not eps > D", 1}, {"eps > -0.5", 1},
	} {
		e, err := Parse(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got, err := e.Eval(testEnv); err != nil || got != test.want {
			t.Errorf("%s = %d, %v; want %d", test.text, got, err, test.want)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for text, want := range map[string]error{
		"N // Z": ErrZeroDivision, "N % Z": ErrZeroDivision, "ceildiv(N, Z)": ErrZeroDivision,
		"9223372036854775807 + 1": ErrOverflow, "-9223372036854775807 - 2": ErrOverflow, "2 ** 63": ErrOverflow, "D ** 11": ErrOverflow,
		"4294967296 * 2147483648": ErrOverflow, "(-9223372036854775807 - 1) // -1": ErrOverflow, "-(-9223372036854775807 - 1)": ErrOverflow,
		"2 ** -1": ErrNotInteger, "0.5": ErrNotInteger, "stride[2]": nil, "stride[-1]": nil, "K": nil, "sum(m)": nil, "K + 1": nil,
		"'NHD'": ErrNotInteger, "mode == 'NHD'": nil, "N if Z // Z > 0 else 1": ErrZeroDivision,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if v, err := e.Eval(testEnv); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s = %d, %v; want error %v", text, v, err, want)
		}
	}
}

func TestEvalFloat(t *testing.T) {
	for text, want := range map[string]float64{
		"D ** -0.5": 0.125, "1e-6 * 2": 2e-6, "7 // 2.0": 3, "-7 // 2.0": -4, "-7 % 3.0": 2, "7 % -3.0": -2, "max(N, 7.5)": 7.5, "min(2, N)": 2,
		"ceildiv(7, 2.0)": 4, "-stride[0] + 0.5": -1.5, "eps if N > 1 else 3": 0.5, "sum(n) - 1": 5,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.EvalFloat(testEnv); err != nil || got != want {
			t.Errorf("%s = %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"Z ** -1", "1.0 // Z", "1e300 * 1e300", "(-1) ** 0.5", "N > 1", "K * 0.5"} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.EvalFloat(testEnv); err == nil {
			t.Errorf("%s = %v, want an error", text, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	deep := strings.Repeat("(", 1000)
	for _, test := range []struct {
		text string
		col  int
		want string
	}{
		{"", 0, "got the end"}, {"2 *", 3, "got the end"}, {"(N", 2, `expected ")"`}, {"N)", 1, `got ")"`}, {"2 N", 2, `got "N"`}, {"2N", 0, `"2N"`},
		{"N / 2", 2, `got "/"`}, {"a < b < c", 6, "do not chain"}, {"N = 1", 2, `got "="`}, {"f(N)", 0, `unknown function "f"`},
		{"min(N)", 0, "two or more"}, {"len(N, M)", 0, "one argument"}, {"sum(2*N)", 4, "takes a name"}, {"stride[", 7, "got the end"},
		{"not", 3, "got the end"}, {"N + not M", 4, `got "not"`}, {"9223372036854775808", 0, "64 bits"}, {"1.2.3", 0, "not a number"},
		{"1e999", 0, "not a number"}, {"N é", 2, `"é"`}, {deep[:500], 55, "nested too deeply"}, {deep + "N", 0, "longer than"},
		{"N" + strings.Repeat("+N", 80), 129, "operators in a row"}, {"+N", 0, `got "+"`}, {"N == 'x", 5, "does not end"}, {"N if D > 1", 10, `expected "else"`}, {"N + if", 4, `got "if"`}, {"N && M", 2, `"&&"`}, {"N & 1", 2, `"&"`},
	} {
		_, err := Parse(test.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Col != test.col || !strings.Contains(syntax.Text, test.want) {
			t.Errorf("%.20q: got %#v, want %q at %d", test.text, err, test.want, test.col)
		}
	}
}

func TestExprText(t *testing.T) {
	e, err := Parse(" ( H +  2*padding[0] -\tdilation[0]*(R - 1) ) // stride[0] + sum( n )")
	if err != nil {
		t.Fatal(err)
	}
	if want := "( H + 2*padding[0] - dilation[0]*(R - 1) ) // stride[0] + sum( n )"; e.Text != want {
		t.Errorf("text %q, want %q", e.Text, want)
	}
	if want := "H + 2*padding[0] - dilation[0]*(R - 1)"; e.Args[0].Args[0].Text != want {
		t.Errorf("inner text %q, want %q", e.Args[0].Args[0].Text, want)
	}
	if got, want := strings.Join(e.Symbols(), " "), "H R dilation n padding stride"; got != want {
		t.Errorf("symbols %q, want %q", got, want)
	}
}

// FuzzExpr checks that a parsed expression prints as itself, and that Eval agrees with arbitrary precision.
func FuzzExpr(f *testing.F) {
	for _, text := range []string{
		"N", "-2 ** 2", "7 // -2", "(H + 2*padding[0]) // stride[0]", "min(max(T // 64, 1), 32)", "a < b and not c == d or e", "D ** -0.5",
		"ceildiv(N, 2)", "sum(n) + len(n)", "aligned(a, 16)", "is_pow2(N // 2)", "1e-6", "9223372036854775807 * 2",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			if syntax := new(SyntaxError); !errors.As(err, &syntax) || syntax.Col < 0 || syntax.Col > len(text) || syntax.Text == "" {
				t.Fatalf("syntax %#v", err)
			}
			return
		}
		again, err := Parse(e.Text)
		if err != nil || again.Text != e.Text || Nodes(again) != Nodes(e) {
			t.Fatalf("%q became %q: %v", text, e.Text, err)
		}
		_, _ = e.EvalFloat(testEnv)
		got, err := e.Eval(testEnv)
		if want, exact := bigEval(e); exact && err == nil && (!want.IsInt64() || want.Int64() != got) {
			t.Fatalf("%s = %d, want %s", e.Text, got, want)
		}
		if want, exact := bigEval(e); exact && errors.Is(err, ErrOverflow) && bigMax(e).BitLen() < 64 {
			t.Fatalf("%s overflows, want %s", e.Text, want)
		}
	})
}

// bigEval computes arithmetic in arbitrary precision; exact is false where it does not apply.
func bigEval(e *Expr) (v *big.Int, exact bool) {
	if e.Op == OpConst {
		return big.NewInt(e.Value), true
	}
	if n, ok := testEnv.Int(e.Name); ok && e.Op == OpSymbol {
		return big.NewInt(n), true
	}
	var args []*big.Int
	for _, arg := range e.Args {
		v, exact := bigEval(arg)
		if !exact || v.BitLen() > 4096 {
			return nil, false
		}
		args = append(args, v)
	}
	switch e.Op {
	case OpNeg:
		return new(big.Int).Neg(args[0]), true
	case OpAdd:
		return new(big.Int).Add(args[0], args[1]), true
	case OpSub:
		return new(big.Int).Sub(args[0], args[1]), true
	case OpMul:
		return new(big.Int).Mul(args[0], args[1]), true
	case OpFloorDiv, OpMod:
		return bigDivide(e.Op, args[0], args[1])
	case OpPow:
		if args[1].Sign() < 0 || args[1].BitLen() > 7 {
			return nil, false
		}
		return new(big.Int).Exp(args[0], args[1], nil), true
	}
	return nil, false
}

func bigDivide(op Op, a, b *big.Int) (*big.Int, bool) {
	if b.Sign() == 0 {
		return nil, false
	}
	q, m := new(big.Int).DivMod(a, b, new(big.Int)) // Euclidean: m is never negative
	if m.Sign() != 0 && b.Sign() < 0 {
		q.Sub(q, big.NewInt(1))
		m.Add(m, b)
	}
	if op == OpMod {
		return m, true
	}
	return q, true
}

// bigMax returns the largest magnitude of any part of an expression.
func bigMax(e *Expr) *big.Int {
	largest := new(big.Int)
	e.Walk(func(n *Expr) {
		if v, exact := bigEval(n); exact && v.CmpAbs(largest) > 0 {
			largest.Abs(v)
		}
	})
	return largest
}
