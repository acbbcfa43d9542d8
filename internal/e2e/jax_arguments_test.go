package e2e

import "testing"

// The JAX adaptor takes objects that stand for arrays, says what to pass in the place of an array where a number must be, and
// never calls a kernel again to learn what was wrong.
func TestJAXArguments(t *testing.T) {
	t.Parallel()
	if got := run(t, command(t, ".", python(t), "jax_arguments.py")); got != "ok\n" {
		t.Errorf("got %s", got)
	}
}
