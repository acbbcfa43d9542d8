package cases

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/ndarray"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A plan is refused without a search where a search finds nothing, and nowhere else.
func TestExceeds(t *testing.T) {
	p, findings, err := load.Load(filepath.Join("..", "..", "..", "examples", "inference"))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	refused := 0
	for _, op := range p.Ops {
		symbols := Symbols(op)
		if len(symbols) == 0 || len(symbols) > 4 { // a search among more takes long
			continue
		}
		for _, size := range []int64{0, 3, 1031, MaxElements, MaxElements + 1} {
			exceeds, found := solved(op, symbols[0], size)
			if exceeds && found {
				t.Errorf("%s: %s = %d is refused, and has a solution", op.Name, symbols[0], size)
			}
			if exceeds {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no plan is refused")
	}
}

// solved says whether a size is refused at once, and whether a search finds sizes to go with it.
func solved(op *opdef.Op, symbol string, size int64) (exceeds, found bool) {
	attrs := map[string]any{}
	for _, a := range op.Attrs {
		if a.HasDefault {
			attrs[a.Name] = a.Default
		}
	}
	s := search{
		op: op, attrs: attrs, dtypes: SupportedDTypes(op, "cpu")[0], sizes: map[string]int64{symbol: size},
		free: Symbols(op)[1:], order: Symbols(op)[1:], limit: MaxTries, largest: MaxElements, allowEmpty: true,
	}
	exceeds = s.exceeds()
	return exceeds, s.next(0)
}

// many has more sizes than a search can walk through: conditions connect some of them.
const many = `doc = "A."
kind = 0
dtypes = { T = ["f32"] }
let.P = "(A + 2*pad - B) // step + 1"
let.Q = "(C + 2*pad - D) // step + 1"
let.R = "(E + 2*pad - F) // step + 1"
inputs = [
  { name = "x", type = "T[G, H, A, C, E]", doc = "A." },
  { name = "w", type = "T[I, H2, B, D, F]", doc = "A." },
  { name = "z", type = "T[J, K]", doc = "A." },
]
attrs = [
  { name = "pad", type = "int", default = 0, min = 0, doc = "A." },
  { name = "step", type = "int", default = 1, min = 1, doc = "A." },
  { name = "groups", type = "int", default = 1, min = 1, doc = "A." },
]
outputs = [{ name = "y", type = "T[G, I, P, Q, R]", doc = "A." }]
require = ["H == H2*groups", "I % groups == 0", "P > 0", "Q > 0", "R > 0"]
reference = "return x"
`

// Where sizes cannot be, that shows without a walk through all others, and where they can, they are found.
func TestManySizes(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "many", many))
	for _, tt := range []struct {
		sizes   map[string]int64
		attrs   map[string]any
		largest int64
		there   bool
	}{
		{nil, nil, 0, true},
		{map[string]int64{"H": 5}, map[string]any{"groups": int64(2)}, 0, false},
		{map[string]int64{"H": 6}, map[string]any{"groups": int64(2)}, 0, true},
		{map[string]int64{"F": 1000, "E": 999}, nil, 0, false},
		{map[string]int64{"F": 16, "K": 97}, map[string]any{"pad": int64(1), "step": int64(3)}, 8192, true},
		{map[string]int64{"G": 31, "H": 17, "A": 16}, nil, 8192, false},
	} {
		c, err := New(p.Ops[0], Plan{Name: "many", DTypes: DTypes{"T": "f32"}, Sizes: tt.sizes, Attrs: tt.attrs, Largest: tt.largest, NoData: true})
		if (err == nil) != tt.there {
			t.Errorf("%v, %v: %v, want sizes: %v", tt.sizes, tt.attrs, err, tt.there)
		}
		for name, n := range tt.sizes {
			if err == nil && c.Sizes[name] != n {
				t.Errorf("%v, %v: %s is %d", tt.sizes, tt.attrs, name, c.Sizes[name])
			}
		}
	}
}

// Sizes are multiples of a default that is larger than any size that is tried.
func TestMultiples(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "groups", `doc = "A."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[*, N]", doc = "A." }]
attrs = [{ name = "group", type = "int", default = 32, doc = "A." }]
outputs = [{ name = "y", type = "T[*, N // group]", doc = "A." }]
require = ["group > 0", "group % 2 == 0", "N % group == 0"]
reference = "return x"
`))
	c, err := New(p.Ops[0], BasePlan(DTypes{"T": "f32"}))
	if err != nil || c.Sizes["N"] != 32 {
		t.Errorf("%v: the sizes are %v, want N = 32", err, c)
	}
}

// What a kernel's parameters say is tried along each dimension, once, where it can be a size.
func TestParamSizes(t *testing.T) {
	p, findings, err := load.Load(filepath.Join("..", "..", ".."))
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	op := p.Ops[slices.IndexFunc(p.Ops, func(op *opdef.Op) bool { return op.Name == "gemm" })]
	k := &opdef.Kernel{Params: []opdef.Param{{Name: "rows", Values: []int64{48, -1, 64, 1 << 20}}}}
	d := DeclaredDTypes(op)[0]
	usual, all := SizePlans(op, nil, d), SizePlans(op, k, d)
	for _, s := range []string{"M", "K", "N"} {
		for n, tried := range map[int64]int{48: 1, 49: 1, 64: 1, 65: 1, 1 << 20: 0} {
			found := 0
			for _, p := range all {
				if p.Sizes[s] == n {
					found++
				}
			}
			if found != tried {
				t.Errorf("%s = %d: tried %d times, want %d", s, n, found, tried)
			}
		}
	}
	if len(all) != len(usual)+9 {
		t.Errorf("%d plans with a kernel, %d without", len(all), len(usual))
	}
}

const ascending = `doc = "Shift."
kind = 0
dtypes = { T = ["f32"], I = ["i32", "i64"] }
inputs = [
  { name = "x", type = "T[A, B]", doc = "A." },
  { name = "rows", type = "i32[A, B]", sorted = true, min = 0, max = 9, doc = "A." },
  { name = "ends", type = "I[A]", sorted = true, optional = true, doc = "A." },
]
outputs = [{ name = "y", type = "T[A, B]", doc = "A." }]
reference = "return x"
`

// Rows that ascend from one to the next are not repeated, and a dtype whose input is left out is the first one.
func TestAscendingRows(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "ascending", ascending))
	plan := BasePlan(DTypes{"T": "f32", "I": "i64"})
	c, err := New(p.Ops[0], plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range ndarray.Layouts {
		if rows, ends := c.LaidOut(1, layout), c.LaidOut(2, layout); layout.Repeats && (rows != nil || ends == nil) {
			t.Errorf("%s: rows %v, ends %v", layout.Name, rows, ends)
		}
	}
	plan.Without = []string{"ends"}
	without, err := New(p.Ops[0], plan)
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []*Case{without, c.With(2, nil, "no ends")} {
		if made.DTypes["I"] != "i32" || c.DTypes["I"] != "i64" {
			t.Errorf("%s: I = %s", made.Name, made.DTypes["I"])
		}
	}
	k := &opdef.Kernel{Name: "wide", DTypes: map[string][]string{"I": {"i64"}}}
	if _, err := ForKernel(p.Ops[0], k, plan); !errors.Is(err, ErrNoSizes) {
		t.Errorf("a kernel for i64 gets a call without: %v", err)
	}
}

// A kernel that only empty calls reach gets one. A kernel that wants a size which is not tried gets none: its author has to name one.
func TestKernelOfEmptyCalls(t *testing.T) {
	text := ascending + "require = [\"A % 3 == 0\"]\n[[kernels]]\nname = \"few\"\ndevice = \"cpu\"\nwhen = \"A < 3\"\n" +
		"[[kernels]]\nname = \"rare\"\ndevice = \"cpu\"\nwhen = \"A % 801 == 0\"\n[[kernels]]\nname = \"all\"\ndevice = \"cpu\"\n"
	p := loadtest.Load(t, tooltest.Project(t, "ascending", text))
	for i, want := range []int64{0, -1, 3} {
		got := int64(-1)
		if c, err := ForKernel(p.Ops[0], &p.Ops[0].Kernels[i], BasePlan(DTypes{"T": "f32", "I": "i32"})); err == nil {
			got = min(c.Sizes["A"], 3)
		}
		if got != want {
			t.Errorf("%s: A = %d, want %d", p.Ops[0].Kernels[i].Name, got, want)
		}
	}
}

// An empty call that only a kernel takes leaves out an index that may be left out, since it could point at nothing. For dtypes that
// leave the kernel no size, there is no call.
func TestKernelOfEmptyCallsWithoutIndex(t *testing.T) {
	const text = `doc = "Copy."
kind = 0
dtypes = { T = ["f32", "f16"] }
inputs = [
  { name = "x", type = "T[A]", doc = "A." },
  { name = "at", type = "i32[]", optional = true, min = 0, max = "A - 1", doc = "A." },
]
outputs = [{ name = "y", type = "T[A]", doc = "A." }]
require = ["T == f16 or A >= 1", "A % 3 == 0"]
reference = "return x"
kernels = [{ name = "few", device = "cpu", when = "A < 3" }, { name = "all", device = "cpu" }]
`
	p := loadtest.Load(t, tooltest.Project(t, "copy", text))
	op, few := p.Ops[0], &p.Ops[0].Kernels[0]
	c, err := ForKernel(op, few, BasePlan(DTypes{"T": "f16"}))
	if err != nil || c.Sizes["A"] != 0 || c.Inputs[1] != nil {
		t.Errorf("float16: %v, %v", c, err)
	}
	if _, err := ForKernel(op, few, BasePlan(DTypes{"T": "f32"})); !errors.Is(err, ErrNoSizes) {
		t.Errorf("float32: %v", err)
	}
	for short, want := range map[string]bool{"f16": false, "f32": true} {
		if got := Excluded(op, few, DTypes{"T": short}); got != want {
			t.Errorf("%s: excluded is %v", short, got)
		}
	}
}

// Of x with G*K rows, nobody finds K when G is 0: no such call is made, while K may well be 0.
func TestZeroFactors(t *testing.T) {
	const text = `doc = "Copy."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "groups", type = "T[G]", doc = "A." }, { name = "x", type = "T[G*K]", doc = "A." }]
outputs = [{ name = "y", type = "T[G*K]", doc = "A." }]
reference = "return x"
`
	op := loadtest.Load(t, tooltest.Project(t, "copy", text)).Ops[0]
	made := map[string]bool{}
	for _, c := range All(op, ZeroPlans(op, DTypes{"T": "f32"}), nil) {
		made["G"], made["K"] = made["G"] || c.Sizes["G"] == 0, made["K"] || c.Sizes["K"] == 0
	}
	if made["G"] || !made["K"] {
		t.Errorf("calls with sizes of 0: %v", made)
	}
}

// Where a predicate decides, some sizes are even, whatever they are multiples of.
func TestSizesForPredicates(t *testing.T) {
	const text = `doc = "Copy."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[A, A, 2*A]", doc = "A." }]
outputs = [{ name = "y", type = "T[A, A, 2*A]", doc = "A." }]
reference = "return x"
kernels = [{ name = "even", device = "cpu", supported = true }, { name = "all", device = "cpu" }]
`
	for _, by := range []string{"1", "3", "5", "7", "8"} {
		p := loadtest.Load(t, tooltest.Project(t, "copy", text+"require = [\"A % "+by+" == 0\"]\n"))
		plans := ValuePlans(p.Ops[0], DTypes{"T": "f32"})
		if !slices.ContainsFunc(All(p.Ops[0], plans, nil), func(c *Case) bool { return c.Sizes["A"]%2 == 0 }) {
			t.Errorf("multiples of %s: all sizes are odd", by)
		}
	}
}
