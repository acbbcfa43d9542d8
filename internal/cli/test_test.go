package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakePython is an interpreter that says what is installed, and cannot run anything.
func fakePython(t *testing.T, packages string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "python")
	script := "#!/bin/sh\necho '{\"version\": \"3.12.1\", \"packages\": {" + packages + "}}'\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTestCommand(t *testing.T) {
	const installed = `"apache-tvm-ffi": "1", "ml-dtypes": "1", "numpy": "1"`
	for name, test := range map[string]struct {
		packages string
		args     []string
		code     int
		stderr   string
	}{
		"not built":       {installed, nil, exitMachine, "the library is not built: "},
		"what to run":     {installed, nil, exitMachine, "run: opcast build"},
		"unknown op":      {installed, []string{"nonsense"}, exitUsage, `op "nonsense": unknown name`},
		"unknown adaptor": {installed, []string{"--adaptor", "paddle"}, exitUsage, `adaptor "paddle": unknown name`},
		"unknown device":  {installed, []string{"--device", "tpu"}, exitUsage, `unknown device "tpu": devices are cpu and cuda`},
		"no numpy":        {`"apache-tvm-ffi": "1", "ml-dtypes": "1"`, nil, exitMachine, "pip install numpy"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{
				"-C", filepath.Join("..", "..", "conformance", "testdata", "toy"), "test", "--python", fakePython(t, test.packages),
			}, test.args...)
			code := Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("code %d, want %d\n%s", code, test.code, &stderr)
			}
		})
	}
}
