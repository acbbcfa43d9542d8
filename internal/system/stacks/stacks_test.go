package stacks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A library with a kernel that hangs, and a program that calls it. What it does after each call keeps the compiler from jumping there.
const hanging = `
#include <unistd.h>
namespace ops {
volatile int forever = 1;
__attribute__((noinline)) void Spin(int step) { while (forever) forever += step * 2; }
__attribute__((noinline)) void Wait(int) { while (forever) pause(); }
}
#define EXPORT extern "C" __attribute__((visibility("default")))
EXPORT void __tvm_ffi_spin() { ops::Spin(1); ops::forever = 2; }
EXPORT void __tvm_ffi_wait() { ops::Wait(1); ops::forever = 2; }
`

const calling = `
#include <dlfcn.h>
#include <stdio.h>
int main(int, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  void (*f)() = (void (*)())dlsym(library, argv[2]);
  if (!f) return 1;
  puts("ready");
  fflush(stdout);
  f();
  return 0;
}
`

func compile(t *testing.T, dir, name, source string, flags ...string) string {
	t.Helper()
	file, out := filepath.Join(dir, name+".cc"), filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("c++", append([]string{file, "-o", out}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// start runs the program until it is about to call the function.
func start(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// eventually looks until the process is where it hangs.
func eventually(t *testing.T, pid int, library, want string) string {
	t.Helper()
	var text string
	for range 100 {
		found, err := Of(pid, library)
		if err != nil {
			t.Fatal(err)
		}
		if text = strings.Join(found, "\n"); strings.Contains(text, want) {
			return text
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("got\n%s\nwant %q in it", text, want)
	return ""
}

func TestOf(t *testing.T) {
	dir := t.TempDir()
	program := compile(t, dir, "program", calling, "-ldl")
	exports := compile(t, dir, "libexports.so", hanging, "-shared", "-fPIC", "-O2", "-g0", "-fvisibility=hidden")
	debug := compile(t, dir, "libdebug.so", hanging, "-shared", "-fPIC", "-O0", "-g")
	spin := start(t, program, exports, "__tvm_ffi_spin")
	if got := eventually(t, spin.Process.Pid, exports, "__tvm_ffi_spin"); got != "  ops::Spin\n  __tvm_ffi_spin" {
		t.Errorf("a loop: got\n%s", got)
	}
	// A kernel that waits is in libc, and the frames of its callers lie on the stack.
	wait := start(t, program, exports, "__tvm_ffi_wait")
	if got := eventually(t, wait.Process.Pid, exports, "__tvm_ffi_wait"); !strings.HasSuffix(got, "\n  ops::Wait\n  __tvm_ffi_wait") || !strings.Contains(got, "pause") {
		t.Errorf("waiting: got\n%s", got)
	}
	lines := start(t, program, debug, "__tvm_ffi_spin")
	if got := eventually(t, lines.Process.Pid, debug, "__tvm_ffi_spin"); !strings.Contains(got, "ops::Spin at ") || !strings.Contains(got, "libdebug.so.cc:5\n") {
		t.Errorf("with debug information: got\n%s", got)
	}
	if got, err := Of(spin.Process.Pid, debug); err != nil || got != nil {
		t.Errorf("a library that the process does not have: got %v, %v", got, err)
	}
}

func TestOfNobody(t *testing.T) {
	if _, err := Of(1<<22+1, "lib.so"); err == nil {
		t.Error("a process that there is not has stacks")
	}
}
