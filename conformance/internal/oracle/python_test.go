package oracle_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/oracle"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/rpc"
)

// answer evaluates a reference text on a small case of affine.
func answer(t *testing.T, oracle *oracle.Python, text string) ([]oracle.Expected, error) {
	t.Helper()
	op := *fake.ToyOp(t, "affine")
	op.Reference = text
	return ask(t, oracle, &op)
}

func ask(t *testing.T, oracle *oracle.Python, op *opdef.Op) ([]oracle.Expected, error) {
	t.Helper()
	c, err := cases.New(op, cases.Plan{Name: "python", DTypes: cases.DTypes{"T": "f16"}, Batch: []int64{}, Sizes: map[string]int64{"N": 2}})
	if err != nil {
		t.Fatal(err)
	}
	return oracle.Reference(context.Background(), c, "float64")
}

func one(shape []int64, values ...float64) []oracle.Expected {
	return []oracle.Expected{{Shape: shape, Values: values}}
}

func TestReferenceWorker(t *testing.T) {
	reference := fake.RealOracle(t, time.Minute)
	for name, test := range map[string]struct {
		text string
		want []oracle.Expected
		err  string
	}{
		"attrs by name":  {"return xp.full(x.shape, alpha + (mode == 'plain'))", one([]int64{2}, 2, 2), ""},
		"float64":        {"return xp.full(x.shape, x.dtype == 'float64' and bias.dtype.itemsize)", one([]int64{2}, 8, 8), ""},
		"prints":         {"print('noise'); return 3 * xp.ones(2)", one([]int64{2}, 3, 3), ""},
		"raises":         {"return x @ xp.zeros(7)", nil, "reference of affine: ValueError: "},
		"does not parse": {"return (", nil, "SyntaxError"},
		"too many":       {"return x, x", nil, "reference of affine: it returns 2 arrays, want 1"},
		"another shape":  {"return x[None]", nil, "reference of affine: y: expected shape [2], it returns shape [1, 2]"},
		"a number":       {"return 3.0", nil, "reference of affine: y: expected shape [2], it returns shape []"},
		"nothing":        {"return None", nil, "reference of affine: expected an array, got None"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := answer(t, reference, test.text)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReferenceModule(t *testing.T) {
	op := *fake.ToyOp(t, "affine")
	op.Reference, op.ReferenceModule = "", "import numpy as np\n\ndef reference(x, w):\n    return np.ones(2)\n"
	got, err := ask(t, fake.RealOracle(t, time.Minute), &op)
	if err != nil || len(got) != 1 || len(got[0].Values) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

// A Python process that dies or hangs costs one call and leaves its stack behind.
func TestPythonCrash(t *testing.T) {
	oracle := fake.RealOracle(t, 15*time.Second)
	for name, test := range map[string]struct{ text, reason, stack string }{
		"segfault": {"import ctypes; ctypes.string_at(0)", "segmentation fault", "string_at"},
		"exit":     {"import os; os._exit(7)", "exit status 7", ""},
		"hang":     {"import time; time.sleep(600)", "no answer within 15s", "in reference"},
		"eats":     {"import time; eaten = [bytearray(1 << 26) for _ in range(32)]; time.sleep(600)", "at most 1024 are allowed", "in reference"},
	} {
		_, err := answer(t, oracle, test.text)
		var crash *rpc.CrashError
		if !errors.As(err, &crash) || !strings.Contains(crash.Reason, test.reason) || !strings.Contains(crash.Stderr, test.stack) {
			t.Errorf("%s: got %v", name, err)
		}
		if got, err := answer(t, oracle, "return xp.ones(2)"); err != nil || got[0].Values[0] != 1 {
			t.Errorf("after %s: %v, %v", name, got, err)
		}
	}
}

// Nothing is demanded of an integer that a reference makes of NaN; the others count, also those that it chooses by NaN.
func TestIntegersOfNaN(t *testing.T) {
	python, nan := fake.RealOracle(t, time.Minute), math.NaN()
	for text, want := range map[string][]float64{
		"return xp.rint(x).astype(xp.int8)":                   {2, nan},
		"return xp.rint(x * 0.01).astype(xp.int8)":            {nan, nan},
		"return xp.rint(x).astype(xp.int8) * 0 + 4":           {4, 4},
		"return xp.isnan(x).astype(xp.int8)":                  {0, 1},
		"return xp.nan_to_num(x, nan=9).astype(xp.int8)":      {2, 9},
		"return xp.rint(x)":                                   {2, nan},
		"x.fill(7); return xp.rint(x).astype(xp.int64) << 60": {8070450532247928832, 8070450532247928832},
	} {
		op := *fake.ToyOp(t, "affine")
		op.Reference = text
		c, err := cases.New(&op, cases.Plan{Name: "python", DTypes: cases.DTypes{"T": "f32"}, Batch: []int64{}, Sizes: map[string]int64{"N": 2}})
		if err != nil {
			t.Fatal(err)
		}
		c.Inputs[0] = ndarray.FromFloats(c.Inputs[0].DType, []int64{2}, []float64{2, nan})
		got, err := python.Reference(t.Context(), c, "float64")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got[0].Values, cmpopts.EquateNaNs()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// About large integers there is a verdict only where the reference does not overflow itself, and knows all of their digits.
func TestDecided(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	const rest = ", xp.sum(x, axis=-1, dtype=xp.int64), marks"
	for _, test := range []struct {
		name, dtype, y string
		bits           int
		decided        bool
	}{
		{"a copy", "i64", "x", 62, true},
		{"a sum that fits", "i64", "x + w", 62, true},
		{"a sum that does not", "i64", "x + w", 64, false},
		{"an average that overflows on the way", "i8", "(x + w) // 2", 8, false},
		{"an average of smaller ones", "i8", "(x + w) // 2", 7, true},
		{"a reference in float64", "i64", "x * 1.0", 62, false},
		{"a reference in float64 of few bits", "i64", "x * 1.0", 32, true},
		{"bits of bytes", "u8", "(x & 15) ^ (x >> 4)", 8, true},
		{"no result of this dtype", "u8", "x.astype(xp.int64) * 300", 8, false},
		{"what objects do not know", "u8", "xp.rint(xp.sqrt(x))", 8, true},
	} {
		op := *fake.ToyOp(t, "counts")
		op.Reference = "return " + test.y + rest
		c, err := cases.New(&op, cases.Plan{Name: "large", DTypes: cases.DTypes{"T": test.dtype}, Batch: []int64{2}, Sizes: map[string]int64{"N": 5}})
		if err != nil {
			t.Fatal(err)
		}
		c = c.WithLargeIntegers(cases.Large{Bits: func(int) int { return test.bits }, Only: cases.Everywhere})
		got, err := oracle.Decided(t.Context(), python, c)
		if err != nil || (got != nil) != test.decided {
			t.Errorf("%s: %v, %v, want a verdict: %t", test.name, got, err, test.decided)
		}
	}
}

// A kernel may compute in float32, so that nothing is demanded where that gives something else.
func TestOpenElements(t *testing.T) {
	python := fake.RealOracle(t, time.Minute)
	for text, open := range map[string]bool{"return x * alpha": false, "return xp.cos(x * 0.01)": true} {
		op := *fake.ToyOp(t, "affine")
		op.Reference, op.Inputs = text, slices.Clone(op.Inputs)
		op.Inputs[0].Type.Var, op.Inputs[0].Type.DType = "", "i64"
		c, err := cases.New(&op, cases.Plan{Name: "large", DTypes: cases.DTypes{"T": "f32"}, Batch: []int64{2}, Sizes: map[string]int64{"N": 5}})
		if err != nil {
			t.Fatal(err)
		}
		c = c.WithLargeIntegers(cases.Large{Bits: func(int) int { return 62 }, Only: cases.Everywhere})
		got, err := oracle.Decided(t.Context(), python, c)
		if err != nil {
			t.Fatal(err)
		}
		if isOpen := got == nil || slices.Contains(got[0].Open, true); isOpen != open {
			t.Errorf("%s: %v, want open elements: %t", text, got, open)
		}
	}
}
