// Package tooltest builds the command opcast for tests that start it as a program, and makes compilers that only say what they are.
package tooltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// variable names the folder of the program, for the tests of a package.
const variable = "OPCAST_TOOLTEST"

// Run runs the tests of a package, removes the program that they started, and returns the exit code. TestMain calls it.
func Run(m *testing.M) (code int) {
	folder, err := os.MkdirTemp("", "opcast-tool-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "folder of the program:", err)
		return 1
	}
	defer os.RemoveAll(folder)
	_ = os.Setenv(variable, folder) // a name without "=" and NUL is always set
	return m.Run()
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
	folder := os.Getenv(variable)
	if folder == "" {
		return "", errors.New("no folder for the program: TestMain has to call tooltest.Run")
	}
	path = filepath.Join(folder, "opcast")
	out, err := exec.Command("go", "build", "-o", path, "github.com/opcast/opcast/cmd/opcast").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("compile the program: %w\n%s", err, out)
	}
	return path, nil
})
