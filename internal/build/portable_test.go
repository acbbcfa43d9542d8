package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/system/elfcheck"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// modernKernel calls what has a new version on a new system, throws and prints.
const modernKernel = `
#include <cmath>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <thread>
static std::shared_ptr<int> shared = std::make_shared<int>(1);
int Modern(double x) {
  std::ostringstream out;
  std::shared_ptr<int> copy = shared;
  std::thread([&] { out << std::exp(x) << std::pow(x, 1.5) << *copy; }).join();
  if (out.str() == "none") throw std::runtime_error(out.str());
  return static_cast<int>(out.str().size());
}
`

// newPortable is a demo with a kernel that has to be linked with old versions.
func newPortable(t *testing.T) *demo {
	t.Helper()
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("portable libraries are for x86_64 Linux")
	}
	d := newDemo(t)
	d.Portable = true
	d.write("csrc/modern.cc", modernKernel)
	d.write("csrc/other.cc", demoFiles["csrc/other.cc"]+"int Modern(double);\nint Caller() { return Modern(1); }\n")
	d.write("csrc/scale.cc", strings.ReplaceAll(demoFiles["csrc/scale.cc"], "Factor()", "Factor() + Caller()")+"\n")
	d.write("csrc/factor.h", demoFiles["csrc/factor.h"]+"int Caller();\n")
	return d
}

// digest builds and returns the digest of the library.
func (d *demo) digest() string {
	d.t.Helper()
	result, findings, log, err := d.build()
	if err != nil || len(findings) > 0 {
		d.t.Fatalf("build: %v %v\n%s", err, findings, log)
	}
	return result.SHA256
}

// TestPortable: the library needs old versions only, is the same wherever it is made, and differs from the usual one.
func TestPortable(t *testing.T) {
	d := newPortable(t)
	first := d.digest()
	lib, err := elfcheck.Read(d.path("build/release/libdemo.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range lib.Undefined {
		if !elfcheck.FindStandard(standard).Has(s.Version) || s.Version == "" && s.Name != "TVMFFIHost" {
			t.Errorf("needs %s@%s", s.Name, s.Version)
		}
	}
	for _, name := range lib.Needed {
		if strings.HasPrefix(name, "libstdc++") {
			t.Errorf("needs %s", name)
		}
	}
	if again := newPortable(t).digest(); again != first {
		t.Error("another folder gives other bytes")
	}
	if got := d.compiled(); len(got) > 0 {
		t.Errorf("compiled %v again", got)
	}
	d.Portable = false
	if d.digest() == first {
		t.Error("the usual library is the portable one")
	}
	d.Portable = true
	if d.digest() != first {
		t.Error("a portable build after another gives other bytes")
	}
}

// TestPortableClang: another compiler and its linker.
func TestPortableClang(t *testing.T) {
	if _, err := exec.LookPath("clang++"); err != nil {
		t.Skip("no clang++")
	}
	d := newPortable(t)
	d.set(map[string]string{"CXX": "clang++"})
	d.digest()
}

// TestPortableRefuses what the old C library lacks, and machines that lack what the link takes.
func TestPortableRefuses(t *testing.T) {
	d := newPortable(t)
	d.write("csrc/modern.cc", modernKernel+"#include <unistd.h>\nint New() { return gettid(); }\nstatic int (*volatile pointer)() = New;\n"+
		"static int called = pointer();\n__attribute__((constructor)) void Start() { called += pointer(); }\n")
	_, findings, log, err := d.build()
	if err != nil || len(findings) != 1 || findings[0].Code != "B007" || !strings.Contains(findings[0].Text, "libdemo.so uses gettid, which manylinux_2_28 lacks") {
		t.Errorf("findings %v, error %v\n%s", findings, err, log)
	}
	for lacking, want := range map[string]string{"libc.so.6": "is not glibc", "libstdc++.a": "no libstdc++.a"} {
		d := newPortable(t)
		program := filepath.Join(t.TempDir(), "c++")
		tooltest.Write(t, program, "#!/bin/sh\ncase \"$*\" in *-print-file-name="+lacking+"*) echo "+lacking+";; *) exec c++ \"$@\";; esac\n")
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
		d.set(map[string]string{"CXX": program})
		if _, _, _, err := d.build(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("without %s: error %v", lacking, err)
		}
	}
}
