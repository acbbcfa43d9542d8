package judge

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/conformance"
)

func TestComparisons(t *testing.T) {
	got, err := comparisons(strings.Fields("a torch:old.ext.a jax:dir/x.y.py:f b numpy:m:g"))
	want := []conformance.Callable{
		{Adaptor: "torch", Op: "a", Target: "old.ext:a"}, {Adaptor: "jax", Op: "a", Target: "dir/x.y.py:f"},
		{Adaptor: "numpy", Op: "b", Target: "m:g"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, diff)
	}
}
