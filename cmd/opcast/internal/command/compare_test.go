package command

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

func TestCompareUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":    {[]string{"affine", "numpy:m.f", "--no-build"}, app.ExitMachine, "run: opcast build"},
		"no words":     {nil, app.ExitUsage, "requires at least 2 arg"},
		"no op":        {[]string{"numpy:m.f", "torch:m.f"}, app.ExitUsage, `"numpy:m.f" follows no op`},
		"no function":  {[]string{"affine", "ragged", "numpy:m.f"}, app.ExitUsage, `op "affine" has nothing to be compared with`},
		"none at last": {[]string{"affine", "numpy:m.f", "ragged"}, app.ExitUsage, `op "ragged" has nothing to be compared with`},
		"no module":    {[]string{"affine", "numpy:f"}, app.ExitUsage, `"numpy:f" names no function`},
		"no adaptor":   {[]string{"affine", ":m.f"}, app.ExitUsage, `":m.f" names no function`},
		"no framework": {[]string{"affine", "backend:m:f"}, app.ExitUsage, `adaptor "backend" of m:f: unknown name`},
		"unknown op":   {[]string{"nonsense", "numpy:m:f"}, app.ExitUsage, `op "nonsense" of m:f: unknown name`},
		"only":         {[]string{"affine", "numpy:m:f", "--only", "x"}, app.ExitUsage, "unknown flag: --only"},
		"no device":    {[]string{"affine", "numpy:m:f", "--device", "tpu"}, app.ExitUsage, `unknown device "tpu"`},
		"no folder":    {[]string{"affine", "numpy:m:f", "--report", "test_test.go"}, app.ExitUsage, "expected a folder, it is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "compare", "--python", fakePython(t, installed)}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}
