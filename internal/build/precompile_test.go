package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// sharing is a demo with many kernels whose first include is include/shared.h, after some text.
func sharing(t *testing.T, before string) *demo {
	t.Helper()
	d := newDemo(t)
	d.Project.Manifest.Include = []string{"include"}
	d.write("include/shared.h", "#pragma once\n#include \"deep.h\"\n#include <algorithm>\n")
	d.write("include/deep.h", "#pragma once\ninline int Deep(int a, int b) { return a < b ? b : a; }\n")
	for i := range leastSharing {
		d.write(fmt.Sprintf("csrc/k%d.cc", i), fmt.Sprintf("%s#include \"shared.h\"\nint K%d(int x) { return std::max(Deep(x, %d), 3); }\n", before, i, i))
	}
	return d
}

// A header that many sources include first is compiled once, without a trace in the library. An edit of it, or of what it
// includes, reaches all of them; where few sources are compiled, it is not worth while.
func TestSharedHeaders(t *testing.T) {
	t.Parallel()
	d := sharing(t, "// A comment.\n/* And\n  another. */\n")
	units := d.compiled()
	if !slices.Contains(units, "shared.h") || len(units) != leastSharing+5 {
		t.Fatalf("clean build compiled %v, want shared.h and %d units", units, leastSharing+4)
	}
	for _, header := range []string{"include/shared.h", "include/deep.h"} {
		d.write(header, strings.ReplaceAll(string(d.read(header)), "a < b", "a <= b")+"// edited\n")
		if units := d.compiled(); len(units) != leastSharing+1 {
			t.Errorf("after an edit of %s, %v were compiled, want shared.h and %d units", header, units, leastSharing)
		}
	}
	d.write("csrc/k0.cc", string(d.read("csrc/k0.cc"))+"// edited\n")
	if units := d.compiled(); !slices.Equal(units, []string{"k0.cc"}) {
		t.Errorf("after an edit of one source, %v were compiled", units)
	}
	if units := d.compiled(); len(units) > 0 {
		t.Errorf("without an edit, %v were compiled", units)
	}
}

// A unit may include the header again, by way of another one: it is one header still, for guards and for what is built again.
func TestSharedHeadersTwice(t *testing.T) {
	t.Parallel()
	for _, guard := range []string{"#pragma once\n%s", "#ifndef SHARED\n#define SHARED\n%s#endif\n"} {
		d := sharing(t, "#include \"shared.h\"\n#include \"more.h\"\n")
		d.write("include/shared.h", fmt.Sprintf(guard, "#include \"deep.h\"\n#include <algorithm>\nstruct Once { int x; };\n"))
		d.write("include/more.h", "#pragma once\n#include \"shared.h\"\ninline int More(Once once) { return once.x; }\n")
		if units := d.compiled(); !slices.Contains(units, "shared.h") {
			t.Fatalf("compiled %v", units)
		}
		for _, header := range []string{"include/shared.h", "include/deep.h"} {
			d.write(header, string(d.read(header))+"// edited\n")
			if units := d.compiled(); len(units) != leastSharing+1 {
				t.Errorf("after an edit of %s, %v were compiled, want shared.h and %d units", header, units, leastSharing)
			}
		}
		if units := d.compiled(); len(units) > 0 {
			t.Errorf("without an edit, %v were compiled", units)
		}
	}
}

// What stands before the include may change what it means. The library is the same as with the shared header.
func TestSharedHeadersComeFirst(t *testing.T) {
	t.Parallel()
	shared, own := sharing(t, ""), sharing(t, "#define NOTHING\n")
	if with, without := shared.digest(), own.digest(); with != without {
		t.Errorf("the library differs: %s with a compiled header, %s without", with, without)
	}
	if strings.Contains(own.log.String(), "shared.h") {
		t.Error("a header was compiled that is not the first thing in its sources")
	}
}

// What the compiler warns about in the header is an error where warnings are. That nobody uses a function is none.
func TestSharedHeadersWarn(t *testing.T) {
	t.Parallel()
	d := sharing(t, "")
	d.Project.Manifest.Build.Werror = true
	d.write("include/deep.h", "#pragma once\ninline int Deep(int a, unsigned b) { return a < b ? 1 : a; }\n")
	_, _, log, err := d.build()
	if err == nil || !strings.Contains(log, "sign-compare") {
		t.Errorf("build: %v, want a warning as an error:\n%s", err, log)
	}
	d.write("include/deep.h", "#pragma once\nstatic int Unused(int a) { return a; }\ninline int Deep(int a, int b) { return a < b ? b : Unused(a); }\n")
	if units := d.compiled(); !slices.Contains(units, "shared.h") {
		t.Errorf("compiled %v", units)
	}
}
