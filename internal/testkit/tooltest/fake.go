package tooltest

import (
	"os"
	"path/filepath"
	"testing"
)

// Write writes a file, in a folder that need not exist yet.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Project makes a project with one definition in a folder of the test.
func Project(t testing.TB, op, definition string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Write(t, filepath.Join(dir, "opcast.toml"), "name = \"demo\"\nversion = \"0.1.0\"\nlicense = \"MIT\"\n")
	Write(t, filepath.Join(dir, "opdefs", op+".toml"), definition)
	return dir
}

// NVCC makes a CUDA toolkit whose compiler only knows its version, and returns the compiler.
func NVCC(t testing.TB, version string) (nvcc string) {
	t.Helper()
	root := t.TempDir()
	nvcc = filepath.Join(root, "bin", "nvcc")
	program(t, nvcc, "#!/bin/sh\necho 'Cuda compilation tools, release 13.2, V"+version+"'\n")
	Write(t, filepath.Join(root, "lib64", "libcudart_static.a"), "")
	return nvcc
}

// HIPCC makes a compiler for AMD's GPUs that knows its version, and which architectures it compiles for.
func HIPCC(t testing.TB, archs string) (hipcc string) {
	t.Helper()
	hipcc = filepath.Join(t.TempDir(), "hipcc")
	program(t, hipcc, `#!/bin/sh
case "$*" in *--version*) echo 'HIP version: 6.1'; exit 0;; esac
for known in `+archs+`; do case "$*" in *--offload-arch=$known*) exit 0;; esac; done
echo unknown architecture
exit 1
`)
	return hipcc
}

// program writes a file that can be run.
func program(t testing.TB, path, text string) {
	t.Helper()
	Write(t, path, text)
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}
