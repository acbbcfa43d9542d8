package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestMatrixUsage(t *testing.T) {
	toy := filepath.Join("..", "..", "conformance", "testdata", "toy")
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"not built":       {[]string{"--matrix"}, exitMachine, "run: opcast build"},
		"unknown op":      {[]string{"--matrix", "nonsense"}, exitUsage, `there is no op "nonsense"`},
		"no matrix":       {[]string{"--environment", "x"}, exitUsage, "--environment needs --matrix"},
		"no such project": {[]string{"--matrix", "-C", "nowhere"}, exitUsage, "nowhere is no project"},
		"adaptor":         {[]string{"--matrix", "--adaptor", "numpy"}, exitUsage, "--matrix and --adaptor do not go together"},
		"random":          {[]string{"--matrix", "--random-total", "9"}, exitUsage, "--matrix and --random-total do not go together"},
		"shard":           {[]string{"--matrix", "--shard", "1/2"}, exitUsage, "--matrix and --shard do not go together"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"-C", toy, "test", "--python", fakePython(t, "")}, test.args...)
			code := Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, &stderr)
			}
		})
	}
}
