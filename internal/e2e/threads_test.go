package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// Calls use and start as many threads as opcast_backend.set_num_threads, torch.set_num_threads and the workers of a
// DataLoader allow.
func TestNumberOfThreads(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"numpy", "torch", "jax", "forked", "fork", "spawn"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, t.TempDir(), python(t), filepath.Join(root(t), "internal", "e2e", "threads.py"), name)
			cmd.Env = append(cmd.Environ(), "OPCAST_NUM_THREADS=4")
			run(t, cmd)
		})
	}
}

// The suite's own calls in several threads do not take each other's arrays on a device.
func TestCallsInThreadsKeepTheirMemory(t *testing.T) {
	t.Parallel()
	cmd := command(t, t.TempDir(), python(t), filepath.Join(root(t), "internal", "e2e", "device_memory.py"))
	cmd.Env = append(os.Environ(), "PYTHONSAFEPATH=1", "PYTHONPATH="+filepath.Join(root(t), "conformance", "internal", "worker"))
	run(t, cmd)
}
