package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDropUnused(t *testing.T) {
	got := dropUnused([]string{
		"T_ = x_t = fw.dtype(x_)",
		"if x_t not in (\"a = b\", \"c\"):",
		"x_s = fw.shape(x_)",
		"batch = tuple(x_s[:-1])",
		"if w_ is not None:",
		"    D_ = _r.solve(op, \"w\", w_s, 0, 2, 0, \"2*D\")",
		"    E_ = w_s[1]",
		"    w_s = fw.shape(w_)",
		"F_ = E_ + 1",
		"specs: _m.Specs = ((F_,), T_)",
		"for item in n_:",
		"    if not item >= 0:",
		"scale_ = _r.as_float(op, \"scale\", scale_)",
		"return specs, ()",
	})
	want := []string{
		"T_ = x_t = fw.dtype(x_)",
		"if x_t not in (\"a = b\", \"c\"):",
		"if w_ is not None:",
		"    _r.solve(op, \"w\", w_s, 0, 2, 0, \"2*D\")",
		"    E_ = w_s[1]",
		"    w_s = fw.shape(w_)",
		"F_ = E_ + 1",
		"specs: _m.Specs = ((F_,), T_)",
		"for item in n_:",
		"    if not item >= 0:",
		"scale_ = _r.as_float(op, \"scale\", scale_)",
		"return specs, ()",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
