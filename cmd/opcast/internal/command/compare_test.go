package command

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

func TestCompareUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":    {[]string{"affine", "numpy:m.f", "--no-build"}, exitMachine, "run: opcast build"},
		"no words":     {nil, exitUsage, "requires at least 2 arg"},
		"no op":        {[]string{"numpy:m.f", "torch:m.f"}, exitUsage, `"numpy:m.f" follows no op`},
		"no function":  {[]string{"affine", "ragged", "numpy:m.f"}, exitUsage, `op "affine" has nothing to be compared with`},
		"none at last": {[]string{"affine", "numpy:m.f", "ragged"}, exitUsage, `op "ragged" has nothing to be compared with`},
		"no module":    {[]string{"affine", "numpy:f"}, exitUsage, `"numpy:f" names no function`},
		"no adaptor":   {[]string{"affine", ":m.f"}, exitUsage, `":m.f" names no function`},
		"no framework": {[]string{"affine", "backend:m:f"}, exitUsage, `adaptor "backend" of m:f: unknown name`},
		"unknown op":   {[]string{"nonsense", "numpy:m:f"}, exitUsage, `op "nonsense" of m:f: unknown name`},
		"only":         {[]string{"affine", "numpy:m:f", "--only", "x"}, exitUsage, "unknown flag: --only"},
		"no device":    {[]string{"affine", "numpy:m:f", "--device", "tpu"}, exitUsage, `unknown device "tpu"`},
		"no folder":    {[]string{"affine", "numpy:m:f", "--report", "test_test.go"}, exitUsage, "expected a folder, it is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "compare", "--python", fakePython(t, installed)}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}
