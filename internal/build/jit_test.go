package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// packed is a project with all that may lie in one beside its sources, and the files that a package carries of it.
func packed(t *testing.T, m manifest.Manifest) (*opdef.Project, func() []string) {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []string{
		".env", "README.md", "opcast.toml", "build/runtime/opcast/kernel.h", "build/runtime/opcast/parallel.cc", "build/junk.cc",
		"backend/gen/scale.gen.cc", "backend/python/src/demo_backend/__init__.py", "backend/python/src/demo_backend/lib/libdemo.so",
		"csrc/scale.cc", "csrc/notes.txt", "root.cc", "root.h", "third/libx.a", "third/liby.a",
	} {
		tooltest.Write(t, filepath.Join(dir, f), f)
	}
	for link, target := range map[string]string{"csrc/linked": "../third", "csrc/.#scale.cc": "me@here:1", "csrc/gone.h": "nowhere"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	m.Name = "demo"
	return &opdef.Project{Dir: dir, Manifest: m}, func() (files []string) {
		source := filepath.Join(dir, "backend/python/src/demo_backend/source")
		err := filepath.WalkDir(source, func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, strings.TrimPrefix(p, source+"/"))
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return files
	}
}

// A package carries sources and headers, what is linked and the manifest, also when it is packed again.
func TestPack(t *testing.T) {
	always := []string{"backend/gen/scale.gen.cc", "build/runtime/opcast/kernel.h", "build/runtime/opcast/parallel.cc", "csrc/scale.cc", "opcast.toml"}
	for name, tt := range map[string]struct {
		manifest manifest.Manifest
		more     []string
	}{
		"folder":  {manifest.Manifest{Sources: []string{"csrc/*.cc"}}, nil},
		"root":    {manifest.Manifest{Sources: []string{"*.cc"}}, []string{"root.cc", "root.h"}},
		"include": {manifest.Manifest{Sources: []string{"csrc/*.cc"}, Include: []string{"."}}, []string{"root.cc", "root.h"}},
		"linked":  {manifest.Manifest{Sources: []string{"csrc/*.cc"}, Link: []string{"./third/libx.a", "-lm", "third", "../third/liby.a"}}, []string{"third/libx.a"}},
	} {
		t.Run(name, func(t *testing.T) {
			project, files := packed(t, tt.manifest)
			want := append(append([]string(nil), always...), tt.more...)
			for range 2 {
				n, err := Pack(project, demoRuntime, nil)
				if diff := cmp.Diff(want, files()); err != nil || n != len(want) || diff != "" {
					t.Errorf("%d files, error %v (-want +got):\n%s", n, err, diff)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(project.Dir, "backend/python/src/demo_backend/.*")); len(left) > 0 {
				t.Errorf("left over: %q", left)
			}
			if _, err := os.Stat(filepath.Join(project.Dir, "backend/python/src/demo_backend/lib")); err == nil {
				t.Error("the library is still there")
			}
		})
	}
}

// A package that cannot be packed stays what it was.
func TestPackFails(t *testing.T) {
	project, files := packed(t, manifest.Manifest{Sources: []string{"csrc/*.cc"}})
	if _, err := Pack(project, demoRuntime, nil); err != nil {
		t.Fatal(err)
	}
	want := files()
	library := filepath.Join(project.Dir, "backend/python/src/demo_backend/lib/libdemo.so")
	tooltest.Write(t, library, "library")
	if err := os.Remove(filepath.Join(project.Dir, manifest.File)); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(project, demoRuntime, nil); err == nil || err.Error() != "pack sources: read opcast.toml: no such file or directory" {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(want, files()); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if _, err := os.Stat(library); err != nil {
		t.Error(err)
	}
}

// A static library of the project is linked again when it changes.
func TestBuildLinksFilesOfTheProject(t *testing.T) {
	d := newDemo(t)
	archive := func(value string) {
		t.Helper()
		d.write("third/x.cc", "int Third() { return "+value+"; }\n")
		for _, words := range [][]string{{"c++", "-fPIC", "-c", "x.cc"}, {"ar", "rcs", "libx.a", "x.o"}} {
			cmd := exec.Command(words[0], words[1:]...)
			cmd.Dir = filepath.Join(d.Project.Dir, "third")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Skipf("%v\n%s", err, out)
			}
		}
	}
	d.Project.Manifest.Link = []string{"third/libx.a"}
	d.write("csrc/other.cc", "int Third();\nint Other() { return Third(); }\n")
	var digests []string
	for _, value := range []string{"1", "2"} {
		archive(value)
		result, findings, log, err := d.build()
		if err != nil || len(findings) > 0 {
			t.Fatalf("%v %v\n%s", err, findings, log)
		}
		digests = append(digests, result.SHA256)
	}
	if digests[0] == digests[1] {
		t.Error("another static library gave the same bytes")
	}
}
