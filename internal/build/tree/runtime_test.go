package tree

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A project with a runtime of its own, as this repository is, uses that; stale embedded files go away.
func TestFindRuntime(t *testing.T) {
	dir := t.TempDir()
	embedded := fstest.MapFS{
		"opcast/kernel.h": {Data: []byte("1")}, "opcast/a.cc": {Data: []byte("1")}, "opcast/b.cu": {}, "opcast/c.hip": {}, "emulator/d.cc": {},
	}
	gone := filepath.Join(dir, "build/runtime/opcast/gone.cc")
	tooltest.Write(t, gone, "")
	got, err := FindRuntime(dir, embedded)
	want := Runtime{
		"build/runtime", []string{"build/runtime/opcast/a.cc"}, []string{"build/runtime/opcast/b.cu"}, []string{"build/runtime/opcast/c.hip"},
		[]string{"build/runtime/emulator/d.cc"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Runtime{})); diff != "" || err != nil {
		t.Errorf("embedded: %v (-want +got):\n%s", err, diff)
	}
	if err := LayRuntime(dir, embedded); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("a stale file of the runtime is still there")
	}
	tooltest.Write(t, filepath.Join(dir, "backend/opcast/b.cc"), "")
	got, err = FindRuntime(dir, nil)
	want = Runtime{"backend", []string{"backend/opcast/b.cc"}, nil, nil, nil}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Runtime{})); diff != "" || err != nil {
		t.Errorf("own: %v (-want +got):\n%s", err, diff)
	}
}
