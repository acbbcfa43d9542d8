// Package tooltest builds the command opcast for tests that start it as a program.
package tooltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// folder holds the program; it is empty until a test asks for the program.
var folder string

// Run runs the tests of a package, removes the program that they started, and returns the exit code. TestMain calls it.
func Run(m *testing.M) (code int) {
	code = m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder) // what stays is in the system's folder for such things
	}
	return code
}

// Path returns the path of the program, which is compiled once for all tests of a package.
func Path(t testing.TB) string {
	t.Helper()
	path, err := compile()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var compile = sync.OnceValues(func() (path string, err error) {
	if folder, err = os.MkdirTemp("", "opcast-tool-"); err != nil {
		return "", fmt.Errorf("folder of the program: %w", err)
	}
	path = filepath.Join(folder, "opcast")
	out, err := exec.Command("go", "build", "-o", path, "github.com/opcast/opcast/cmd/opcast").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile the program: %w\n%s", err, out)
	}
	return path, nil
})
