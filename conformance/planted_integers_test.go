package conformance

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/calls"
	"github.com/opcast/opcast/conformance/internal/fake"
)

// What a library says about values beyond a large bound has all digits of it.
func TestLargeBounds(t *testing.T) {
	for _, id := range []string{"contents-refused", "oracle", "contents", "value"} {
		if status := fakeRunOf(t, "counts", id, &fake.Framework{CallerName: calls.BackendName}, nil); !strings.HasPrefix(status, "pass") || strings.Contains(status, "fail") {
			t.Errorf("%s: %s", id, status)
		}
	}
	imprecise := &fake.Framework{CallerName: "fake", After: func(_ *calls.Call, r *calls.Result) {
		if r.Error != nil {
			r.Error.Text = strings.ReplaceAll(r.Error.Text, "4611686018427387904", "4.61169e+18")
		}
	}}
	if status := fakeRunOf(t, "counts", "contents-refused", imprecise, nil); !strings.Contains(status, "want ValueError: counts: marks: expected values of at most 4611686018427387904") {
		t.Error(status)
	}
}
