package command

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

func TestMatrixUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":       {[]string{"--no-build"}, app.ExitMachine, "run: opcast build"},
		"unknown op":      {[]string{"nonsense"}, app.ExitUsage, `there is no op "nonsense"`},
		"no such project": {[]string{"-C", "nowhere"}, app.ExitUsage, "nowhere is no project"},
		"no jobs":         {[]string{"--jobs", "0"}, app.ExitUsage, "--jobs 0: expected at least 1"},
		"no profile":      {[]string{"--profile", "x"}, app.ExitUsage, `unknown profile "x": profiles are fast, core and extended`},
		"adaptor":         {[]string{"--adaptor", "numpy"}, app.ExitUsage, "unknown flag: --adaptor"},
		"random":          {[]string{"--random-total", "9"}, app.ExitUsage, "unknown flag: --random-total"},
		"shard":           {[]string{"--shard", "1/2"}, app.ExitUsage, "unknown flag: --shard"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "matrix", "--python", fakePython(t, "")}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}
