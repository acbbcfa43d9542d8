package command

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/cmd/opcast/internal/app"
)

func TestMutantsUsage(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"unknown op":      {[]string{"nonsense"}, app.ExitUsage, `op "nonsense": unknown name`},
		"unknown adaptor": {[]string{"--adaptor", "nonsense"}, app.ExitUsage, `adaptor "nonsense": unknown name`},
		"definitions":     {[]string{"--opdefs", "x"}, app.ExitUsage, "unknown flag: --opdefs"},
		"jobs":            {[]string{"--jobs", "2"}, app.ExitUsage, "unknown flag: --jobs"},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := start(t, append([]string{"-C", toy, "mutants", "--python", fakePython(t, installed)}, test.args...)...)
			if code != test.code || !strings.Contains(stderr, test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, stderr)
			}
		})
	}
}
