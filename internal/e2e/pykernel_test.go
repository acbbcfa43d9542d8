package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Kernels registered from Python are reached by every adaptor, and their exceptions by every caller.
func TestRegisteredKernels(t *testing.T) {
	t.Parallel()
	pykernel(t, "pykernel_calls.py")
}

// They are reached with every dtype and by every kind of call.
func TestRegisteredKernelsOnEveryPath(t *testing.T) {
	t.Parallel()
	pykernel(t, "pykernel_paths.py")
}

// They come, go and run in threads of ours, of PyTorch and of XLA at once.
func TestRegisteredKernelsInThreads(t *testing.T) { pykernel(t, "pykernel_threads.py") }

// What they raise arrives, whatever its class and text are, and whatever signals come meanwhile.
func TestRegisteredKernelsRaise(t *testing.T) {
	t.Parallel()
	pykernel(t, "pykernel_raised.py")
}

// A process ends well while they are registered and in use.
func TestRegisteredKernelsAtExit(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"idle", "xla", "late", "daemon", "failing", "atexit"} {
		t.Run(how, func(t *testing.T) { pykernel(t, "pykernel_exit.py", how) })
	}
}

// pykernel runs a script of this folder, which ends by printing "ok".
func pykernel(t *testing.T, script string, args ...string) {
	t.Helper()
	folder := filepath.Join(root(t), "internal", "e2e")
	words := append([]string{python(t), "-P", filepath.Join(folder, script)}, args...)
	cmd := command(t, t.TempDir(), words...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+folder)
	if out := run(t, cmd); !strings.Contains(out, "ok\n") {
		t.Errorf("%s printed\n%s", script, out)
	}
}

// The examples run; Triton's interpreter runs the one for GPUs.
func TestKernelExamples(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"in_numpy.py": "kernels: in_numpy, rms_norm", "in_triton.py": "torch.bfloat16 on cpu: ",
	} {
		cmd := command(t, root(t), python(t), "-P", filepath.Join("examples", "kernels", file))
		cmd.Env = append(os.Environ(), "TRITON_INTERPRET=1", "CUDA_VISIBLE_DEVICES=")
		if out := run(t, cmd); !strings.Contains(out, want) {
			t.Errorf("%s printed\n%s", file, out)
		}
	}
}
