package e2e

import "testing"

// What PyTorch's adaptor makes of a call must not depend on the calls before it: each check runs after 100 plain calls.
func TestWarm(t *testing.T) {
	interpreter := python(t)
	words := []string{"-C", root(t), "--no-build", "--adaptor", "torch", "--spread", "--fast", "--warm-up", "100"}
	words = append(words, sampleOf(t, "gemm", "silu_and_mul", "topk")...)
	if wrong, printed := wrongWith(t, interpreter, words); len(wrong) > 0 {
		t.Errorf("failed: %q\n%s", wrong, printed)
	}
}
