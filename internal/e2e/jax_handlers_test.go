package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opcast/opcast/internal/build/pyenv"
)

// The XLA handlers run against stand-ins for XLA, tvm-ffi and an op: that is all of the JAX adaptor's way to a GPU that
// can run without one.
func TestXLAHandlers(t *testing.T) {
	t.Parallel()
	env, err := pyenv.Find(t.Context(), pyenv.Query{Python: python(t), Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	handlers := filepath.Join(root(t), "adaptors", "jax", "csrc")
	none := func(string) bool { return false }
	threads := filepath.Join(handlers, "xla_threads.cc")
	flags := []string{"-I", handlers, "-isystem", env.Includes["jaxlib"], "-isystem", env.TVMInclude}
	cppTest(t, "xla_call_test.cc", none, program{sources: []string{filepath.Join(handlers, "xla_call.cc"), threads}, flags: flags})
	cppTest(t, "xla_threads_test.cc", none, program{sources: []string{threads}, flags: flags})
}
