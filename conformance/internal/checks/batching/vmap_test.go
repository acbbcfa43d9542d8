package batching

import "testing"

// Every input of an op with many is mapped alone, left out, and mapped with all others, without trying all combinations.
func TestSubsets(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 1, 3: 7, mostSubsets: 31, mostSubsets + 1: 13, 40: 81} {
		got := subsets(n)
		if len(got) != want {
			t.Errorf("%d inputs: got %d sets, want %d", n, len(got), want)
		}
		if n > 0 && got[len(got)-1] != 1<<n-1 {
			t.Errorf("%d inputs: the last set is %b, not all", n, got[len(got)-1])
		}
	}
}
