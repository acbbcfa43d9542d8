package oldlibc

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder writes the stubs of this machine into a new folder.
func folder(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("c++"); err != nil {
		t.Skip("no C++ compiler")
	}
	stubs, err := Make(func(name string) (string, error) {
		out, err := exec.Command("c++", "-print-file-name="+name).Output()
		if found := strings.TrimSpace(string(out)); filepath.IsAbs(found) {
			return found, nil
		}
		return "", err
	})
	if errors.Is(err, ErrCannot) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range stubs.Files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// modern uses much for which a new system takes new versions.
const modern = `
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#define EXPORT extern "C" __attribute__((visibility("default")))
static std::shared_ptr<int> shared = std::make_shared<int>(1);
EXPORT double everything(double x, const char* s) {
  std::mutex mutex;
  std::condition_variable changed;
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait_for(lock, std::chrono::milliseconds(20));
  thread_local std::string text;
  std::ostringstream out;
  out << std::regex_match(s, std::regex("a+")) << strtol(s, nullptr, 10) << std::random_device()();
  text = out.str();
  std::shared_ptr<int> copy = shared;
  std::thread([&] { text += "x"; }).join();
  struct stat info;
  std::ifstream file(s);
  atexit([] {});
  if (shm_open("/none", 0, 0) >= 0 || dlopen(s, RTLD_NOW) || stat(s, &info) == 0 || file.good()) return 0;
  try { throw std::runtime_error(text); } catch (const std::exception& e) { return exp(x) + pow(x, 1.7) + e.what()[0] + *copy; }
}
`

const caller = `
#include <dlfcn.h>
#include <stdio.h>
int main(int n, char** words) {
  void* library = dlopen(words[n - 1], RTLD_NOW);
  if (!library) return puts(dlerror()), 1;
  return ((double (*)(double, const char*))dlsym(library, "everything"))(1.5, "aaa") > 3 ? 0 : 2;
}
`

func run(t *testing.T, program string, words ...string) {
	t.Helper()
	if out, err := exec.Command(program, words...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(words, " "), err, out)
	}
}

// TestLink links with each compiler and each linker that there is, and calls the result, which needs old versions only.
func TestLink(t *testing.T) {
	dir := folder(t)
	for name, text := range map[string]string{"modern.cc": modern, "caller.cc": caller} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	run(t, "c++", in("caller.cc"), "-o", in("caller"), "-ldl")
	for _, compiler := range []string{"g++", "clang++"} {
		for _, linker := range []string{"bfd", "gold", "lld"} {
			t.Run(compiler+" "+linker, func(t *testing.T) {
				program := "ld." + linker
				for _, name := range []string{compiler, program} {
					if _, err := exec.LookPath(name); err != nil {
						t.Skip("no " + name)
					}
				}
				out := in(compiler + linker + ".so")
				run(t, compiler, "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-shared", "-pthread",
					"-fuse-ld="+linker, in("modern.cc"), "-x", "c++", in(ShimName), "-x", "none", "-static-libstdc++", "-L"+dir,
					"-Wl,-rpath-link,"+dir, "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL", "-ldl", "-lrt", "-o", out)
				needsOld(t, out)
				run(t, in("caller"), out)
			})
		}
	}
}

// needsOld checks what a library needs: old versions, each from the library that had it then.
func needsOld(t *testing.T, file string) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.ImportedSymbols()
	if err != nil {
		t.Fatal(err)
	}
	homes := map[string]string{}
	for _, s := range symbols {
		homes[s.Name] = s.Library
		weak := s.Version == "" && strings.HasPrefix(s.Name, "_ITM_") || s.Name == "__gmon_start__"
		if _, ok := number(s.Version); ok && !isOld(s.Version) || s.Version == "" && !weak {
			t.Errorf("needs %s@%s", s.Name, s.Version)
		}
	}
	for name, want := range map[string]string{
		"dlopen": "libdl.so.2", "shm_open": "librt.so.1", "pthread_create": "libpthread.so.0", "pow": "libm.so.6", "strtol": "libc.so.6",
	} {
		if got := homes[name]; got != want {
			t.Errorf("%s comes from %q, want %q", name, got, want)
		}
	}
}

func TestStubIsReadable(t *testing.T) {
	symbols := []symbol{{"open", "GLIBC_2.2.5", false, 0}, {"environ", "GLIBC_2.2.5", true, 8}, {"fcntl64", "GLIBC_2.28", false, 0}}
	f, err := elf.NewFile(bytes.NewReader(stub("libc.so.6", symbols)))
	if err != nil {
		t.Fatal(err)
	}
	read, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range read {
		got = append(got, s.Name+"@"+s.Version)
	}
	if diff := cmp.Diff([]string{"environ@GLIBC_2.2.5", "fcntl64@GLIBC_2.28", "open@GLIBC_2.2.5"}, got); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	if name, err := f.DynString(elf.DT_SONAME); err != nil || len(name) != 1 || name[0] != "libc.so.6" {
		t.Errorf("name %q, %v", name, err)
	}
	if !bytes.Equal(stub("libc.so.6", symbols), stub("libc.so.6", []symbol{symbols[2], symbols[0], symbols[1]})) {
		t.Error("the order of symbols decides the bytes")
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"GLIBC_2.2.5": true, "GLIBC_2.28": true, "GLIBC_2.28.1": false, "GLIBC_2.29": false, "GLIBC_3.0": false,
		"GLIBC_PRIVATE": false, "GLIBC_ABI_DT_RELR": false, "GLIBC_": false, "GCC_3.0": false, "": false,
	} {
		if got := isOld(version); got != want {
			t.Errorf("isOld(%q) = %v", version, got)
		}
	}
}

func TestNoGlibc(t *testing.T) {
	_, err := Make(func(string) (string, error) { return "", nil })
	if !errors.Is(err, ErrCannot) {
		t.Errorf("error %v", err)
	}
	damaged := filepath.Join(t.TempDir(), "libc.so.6")
	if err := os.WriteFile(damaged, []byte("\x7fELF"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(func(string) (string, error) { return damaged, nil }); err == nil {
		t.Error("no error for a damaged library")
	}
}
