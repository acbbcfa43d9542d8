package timing

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/conformance/internal/worker"
)

// distances holds what workers measure against what can be counted by hand.
const distances = `
import ml_dtypes
import numpy as np
from opcast_worker.distance import distance

exact, ulp = {"ulps": 0, "abs": 0, "rel": 0}, {"ulps": 1, "abs": 0, "rel": 0}
ones = np.ones((3, 4), ml_dtypes.bfloat16)


def near(got, want):
    assert abs(got - want) <= 1e-6 * want, (got, want)


assert distance(ones, ones, ulp) == 0
near(distance(ones, ones * ml_dtypes.bfloat16(1 + 2**-7), ulp), 1)  # the next number
some = ones.astype(np.float64)
some[0, 0] += 12**0.5 * 2**-7  # one of twelve elements, as far off as the others together
near(distance(ones, some, ulp), 1)
near(distance(np.full(5, 3.0, np.float32), np.full(5, 3.5), {"ulps": 0, "abs": 0.125, "rel": 0.125}), 1)
near(distance(np.zeros(5, np.float16), np.full(5, 2.0**-23), ulp), 2)  # of the smallest numbers

holes = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
assert distance(holes, holes.copy(), ulp) == 0
for i, wrong in enumerate([1.0, -np.inf, np.nan, np.inf]):
    other = holes.copy()
    other[i] = wrong
    assert distance(holes, other, ulp) == float("inf"), (i, wrong)

places = np.arange(6, dtype=np.int32)
assert distance(places, places.astype(np.int64), exact) == 0
assert distance(places, places[::-1], exact) == float("inf")
assert distance(places[:0], places[:0], exact) == 0
many = np.ones(3 << 20, np.float32)  # more than are looked at together
last = many.copy()
last[-1] = np.nan
assert distance(many, many, ulp) == 0 and distance(many, last, ulp) == float("inf")
try:
    distance(ones, ones[:2], ulp)
except ValueError as error:
    assert str(error) == "expected a result of shape [3, 4], got [2, 4]", error
else:
    raise AssertionError("other shapes")
`

func TestDistance(t *testing.T) {
	dir := t.TempDir()
	if err := worker.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), python(t), "-B", "-c", distances)
	run.Dir = dir
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// python is the interpreter of the tests.
func python(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(cmp.Or(os.Getenv("OPCAST_TEST_PYTHON"), filepath.Join("..", "..", "..", ".venv", "bin", "python")))
	if err != nil {
		t.Fatal(err)
	}
	return path
}
