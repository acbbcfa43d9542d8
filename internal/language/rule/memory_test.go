package rule

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// places lists the bytes of every element.
func (m memory) places() [][2]int64 {
	out := [][2]int64{{m.address, m.address + m.itemSize}}
	for i, n := range m.shape {
		var next [][2]int64
		for _, p := range out {
			for k := range n {
				next = append(next, [2]int64{p[0] + k*m.strides[i], p[1] + k*m.strides[i]})
			}
		}
		out = next
	}
	return out
}

func meets(a, b [2]int64) bool { return a[0] < b[1] && b[0] < a[1] }

// random is a small array somewhere in a small memory.
func random(r *rand.Rand) memory {
	m := memory{address: r.Int64N(24) - 4, itemSize: 1 + r.Int64N(2)}
	for range r.IntN(4) {
		m.shape = append(m.shape, r.Int64N(4))
		m.strides = append(m.strides, m.itemSize*(r.Int64N(13)-4)+r.Int64N(20)/19)
	}
	return m
}

// TestOverlap compares with a search through all elements: nothing that overlaps is missed, and arrays of equal shape and
// strides without overlaps of their own are judged exactly.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	exact := map[bool]int{}
	for range 20000 {
		a, b := random(r), random(r)
		if r.IntN(2) == 0 {
			b.itemSize, b.shape, b.strides = a.itemSize, a.shape, a.strides
		}
		want := false
		for _, p := range a.places() {
			for _, q := range b.places() {
				want = want || meets(p, q)
			}
		}
		got := overlap(a, b)
		alike := fmt.Sprint(a.steps(), a.itemSize) == fmt.Sprint(b.steps(), b.itemSize) && a.distinct()
		if want && !got || alike && got != want && (a.address-b.address)%a.itemSize == 0 {
			t.Fatalf("%+v and %+v: got %v, want %v", a, b, got, want)
		}
		if alike {
			exact[got]++
		}
	}
	if exact[true] < 100 || exact[false] < 100 {
		t.Errorf("too few pairs of alike arrays: %v", exact)
	}
}

// TestDistinct compares with a search: no overlap of an array with itself is missed.
func TestDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	count := map[bool]int{}
	for range 20000 {
		m := random(r)
		places := m.places()
		want := true
		for i := range places {
			for j := range i {
				want = want && !meets(places[i], places[j])
			}
		}
		got := m.distinct()
		if got && !want {
			t.Fatalf("%+v overlaps itself", m)
		}
		count[got]++
	}
	if count[true] < 100 || count[false] < 100 {
		t.Errorf("too few arrays of one kind: %v", count)
	}
}

// Shapes that no memory holds reach their checks, too: a caller may claim anything.
func TestDistinctOfHugeArrays(t *testing.T) {
	const huge = 1<<62 - 1
	for name, test := range map[string]struct {
		shape, strides []int64
		want           bool
	}{
		"dense":                  {[]int64{huge}, []int64{4}, true},
		"rows that overlap":      {[]int64{2, huge}, []int64{20, 4}, false},
		"rows far apart":         {[]int64{2, 5}, []int64{1 << 60, 4}, true},
		"rows beyond addresses":  {[]int64{huge, 5}, []int64{1 << 60, 4}, false},
		"a column of huge steps": {[]int64{huge}, []int64{1 << 40}, false},
	} {
		if got := (memory{0, 4, test.shape, test.strides}).distinct(); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// TestOverlapCases are the cases that people meet.
func TestOverlapCases(t *testing.T) {
	array := func(address int64, shape, strides []int64) memory { return memory{address, 4, shape, strides} }
	left, right := array(0, []int64{3, 4}, []int64{32, 4}), array(16, []int64{3, 4}, []int64{32, 4})
	for name, test := range map[string]struct {
		a, b memory
		want bool
	}{
		"column halves of one buffer":   {left, right, false},
		"halves that share a column":    {left, array(12, []int64{3, 4}, []int64{32, 4}), true},
		"halves one row apart":          {left, array(48, []int64{3, 4}, []int64{32, 4}), false},
		"an array and itself":           {left, left, true},
		"a half and the whole":          {left, array(0, []int64{3, 8}, []int64{32, 4}), true},
		"a half and a row of the other": {left, array(16, []int64{4}, []int64{4}), true}, // conservative
		"neighbours":                    {array(0, []int64{4}, []int64{4}), array(16, []int64{4}, []int64{4}), false},
		"an empty array":                {left, array(0, []int64{0, 4}, []int64{32, 4}), false},
		"dims of one element":           {left, array(16, []int64{1, 3, 4}, []int64{999, 32, 4}), false},
		"half an element apart":         {left, array(2, []int64{3, 4}, []int64{32, 4}), true},
		"reversed halves":               {array(64, []int64{3, 4}, []int64{-32, 4}), array(80, []int64{3, 4}, []int64{-32, 4}), false},
	} {
		if got := overlap(test.a, test.b); got != test.want {
			t.Errorf("%s: got %v", name, got)
		}
		if got := overlap(test.b, test.a); got != test.want {
			t.Errorf("%s, the other way: got %v", name, got)
		}
	}
}
