package wheel

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/system/safefile"
)

// example has every kind of entry, in no order.
func example() *Distribution {
	return &Distribution{
		Name: "My.ops-_x", Version: "0.01.0rc02", Summary: "Ops", License: "MIT", RequiresPython: ">=3.10",
		Requires: []string{"numpy>=2"}, Extras: []Extra{{"jax", []string{"my-ops-jax==0.1"}}}, Readme: "# Ops\n",
		Licenses: []File{{Name: "NOTICE", Content: []byte("n")}, {Name: "LICENSE", Content: []byte("l")}},
		Files:    []File{{Name: "ops/b,c.py", Content: []byte("b")}, {Name: "ops/__init__.py"}},
		Scripts:  []File{{Name: "tool", Content: []byte("#!")}}, Platform: anyPlatform,
	}
}

// entries reads an archive as an installer does.
func entries(t *testing.T, archive []byte) (names []string, contents map[string]string) {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	contents = map[string]string{}
	for _, f := range reader.File {
		file, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%s %v", f.Mode(), f.Name))
		contents[f.Name] = string(content)
		if !f.Modified.Equal(epoch) {
			t.Errorf("%s was modified at %v", f.Name, f.Modified)
		}
	}
	return names, contents
}

func TestArchive(t *testing.T) {
	d := example()
	archive, err := d.Archive()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.FileName(), "my_ops_x-0.1.0rc2-py3-none-any.whl"; got != want {
		t.Errorf("file name %s, expected %s", got, want)
	}
	names, contents := entries(t, archive)
	info := "my_ops_x-0.1.0rc2.dist-info/"
	want := []string{
		"-rwxr-xr-x my_ops_x-0.1.0rc2.data/scripts/tool", "-rw-r--r-- ops/__init__.py", "-rw-r--r-- ops/b,c.py",
		"-rw-r--r-- " + info + "METADATA", "-rw-r--r-- " + info + "WHEEL",
		"-rw-r--r-- " + info + "licenses/LICENSE", "-rw-r--r-- " + info + "licenses/NOTICE", "-rw-r--r-- " + info + "RECORD",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	sum := sha256.Sum256([]byte("b"))
	line := `"ops/b,c.py",sha256=` + base64.RawURLEncoding.EncodeToString(sum[:]) + ",1\n"
	if got := contents[info+"RECORD"]; !strings.Contains(got, line) || !strings.HasSuffix(got, info+"RECORD,,\n") {
		t.Errorf("RECORD lacks %q or its own line:\n%s", line, got)
	}
	metadata := `Metadata-Version: 2.4
Name: My.ops-_x
Version: 0.1.0rc2
Summary: Ops
License-Expression: MIT
License-File: LICENSE
License-File: NOTICE
Requires-Python: >=3.10
Requires-Dist: numpy>=2
Provides-Extra: jax
Requires-Dist: my-ops-jax==0.1; extra == "jax"
Description-Content-Type: text/markdown; charset=UTF-8

# Ops
`
	if diff := cmp.Diff(metadata, contents[info+"METADATA"]); diff != "" {
		t.Errorf("METADATA (-want +got):\n%s", diff)
	}
}

func TestArchiveIsReproducible(t *testing.T) {
	first, err := example().Archive()
	if err != nil {
		t.Fatal(err)
	}
	other := example()
	slices.Reverse(other.Files)
	slices.Reverse(other.Licenses)
	second, err := other.Archive()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("another order of the files gives another archive")
	}
}

func TestArchiveRefusesNamesThatOccurTwice(t *testing.T) {
	d := example()
	d.Files = append(d.Files, d.Files[0])
	if _, err := d.Archive(); err == nil || !strings.Contains(err.Error(), "ops/b,c.py occurs twice") {
		t.Errorf("error %v", err)
	}
}

func TestReplaces(t *testing.T) {
	d := example()
	for name, want := range map[string]bool{
		"my_ops_x-0.1.0rc2-py3-none-linux_x86_64.whl": true, "my_ops_x-0.1.0rc2.tar.gz": false,
		"my_ops_x-0.1.0-py3-none-any.whl": false, "my_ops_x_jax-0.1.0rc2-py3-none-any.whl": false,
	} {
		if got := d.Replaces(name); got != want {
			t.Errorf("Replaces(%s) = %t", name, got)
		}
	}
}

func TestOf(t *testing.T) {
	for name, want := range map[string]bool{
		"my_ops-0.1.0-py3-none-any.whl": true, "my_ops_backend-0.0.9.tar.gz": true, "my_ops_jax-1-py3-none-any.whl": true,
		"my_ops_backend_cu13-0.1.0-py3-none-linux_x86_64.whl": true, "my_ops_more-0.1.0-py3-none-any.whl": false,
		"my_ops_jax": false, "my_opsjax-1.tar.gz": false, "numpy-2.0-py3-none-any.whl": false, "my_ops-0.1.0.zip": false, "": false,
	} {
		if got := Of("my_ops", name); got != want {
			t.Errorf("Of(%s) = %t", name, got)
		}
	}
}

// Programs are judged before a build.
func TestCheckPrograms(t *testing.T) {
	program := File{Name: "tool", Content: []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00\x3e\x00\x01\x00\x00\x00" +
		strings.Repeat("\x00", 28) + "\x40\x00\x38\x00\x00\x00\x40\x00\x00\x00\x00\x00")}
	other := program
	other.Name = "other"
	for want, programs := range map[string][]File{
		"":                                {program, other},
		"two programs are called tool":    {program, other, program},
		"script is no program for Linux:": {program, {Name: "script", Content: []byte("#!/bin/sh\n")}},
	} {
		if err := CheckPrograms(programs); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
}

// What a link brings from outside of the project is refused, with the link's name, and a linked package is not left out silently.
func TestLinks(t *testing.T) {
	const pyproject = "[project]\nname = \"demo-backend\"\nversion = \"0.1.0\"\n[tool.setuptools.packages.find]\nwhere = [\"src\"]\n" +
		"[tool.setuptools.package-data]\n\"*\" = [\"lib/*.so\"]\n"
	for link, tt := range map[string]struct{ to, want string }{
		"backend/python/src/demo/x.py":        {"OUT/secret", "backend/python/src/demo/x.py is a link that leads out of"},
		"backend/python/src/demo/lib":         {"OUT", "backend/python/src/demo/lib is a link that leads out of"},
		"backend/python/src/other":            {"OUT", "backend/python/src/other is a link that leads out of"},
		"backend/python/src/again":            {"demo", "again is a link to a package: move the folder here"},
		"backend/python/src/demo/sub":         {"..", ""},
		"backend/python/src/demo/y.py":        {"__init__.py", ""},
		"backend/python/src/none/__init__.py": {"OUT/secret", "none/__init__.py is a link that leads out of"},
		"LICENSE":                             {"OUT/secret", "LICENSE is a link that leads out of"},
		"README.md":                           {"OUT/secret", "README.md is a link that leads out of"},
		"backend/python/README.md":            {"OUT/secret", "README.md is a link that leads out of"},
	} {
		t.Run(link, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			write := func(path, text string) {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(outside, "secret"), "secret")
			write(filepath.Join(dir, "backend/python/pyproject.toml"), pyproject)
			write(filepath.Join(dir, "backend/python/src/demo/__init__.py"), "")
			path := filepath.Join(dir, link)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(strings.Replace(tt.to, "OUT", outside, 1), path)); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			c := Collection{Files: safefile.FS(root)}
			_, err = c.read("backend/python")
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

const project = `
[project]
name = "demo-numpy"
version = "1.0"
description = "Ops"
license = "MIT"
requires-python = ">=3.10"
dependencies = ["demo-backend==1.0"]
[tool.setuptools.packages.find]
where = ["src"]
[tool.setuptools.package-data]
"*" = ["py.typed", "lib/*.so", "recipes/*", "source/**"]
`

func TestReadProject(t *testing.T) {
	files := fstest.MapFS{"pyproject.toml": {Data: []byte(project)}}
	for _, name := range []string{
		"demo/__init__.py", "demo/py.typed", "demo/lib/libdemo.so", "demo/_ops/__init__.py", "demo/_ops/scale.py",
		// What follows is left out.
		"demo/.draft.py", "demo/notes.txt", "demo/recipes/cpu.ninja", "demo/source/x.cc", "demo/__pycache__/x.pyc", "loose/x.py",
	} {
		files["src/"+name] = &fstest.MapFile{}
	}
	d, err := readProject(files)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range d.Files {
		names = append(names, f.Name)
	}
	want := []string{"demo/__init__.py", "demo/lib/libdemo.so", "demo/py.typed", "demo/_ops/__init__.py", "demo/_ops/scale.py"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if !d.Typed || d.RequiresPython != ">=3.10" || d.exact() != "demo-numpy==1.0" {
		t.Errorf("distribution %+v", d)
	}
}

// Installers read the description as UTF-8, and refuse a wheel in which it is none.
func TestReadme(t *testing.T) {
	files := fstest.MapFS{
		"backend/python/pyproject.toml": {Data: []byte("[project]\nname = \"demo-backend\"\nversion = \"0.1.0\"\n")},
		"README.md":                     {Data: []byte("caf\xe9")},
	}
	c := Collection{Files: files}
	if _, err := c.read("backend/python"); err == nil || !strings.Contains(err.Error(), "README.md, is not UTF-8") {
		t.Errorf("error %v", err)
	}
	files["README.md"].Data = []byte("café")
	if d, err := c.read("backend/python"); err != nil || d.Readme != "café" {
		t.Errorf("%+v, error %v", d, err)
	}
}

// What is no library, and what is for no known processor, has no tag.
func TestPlatformRefuses(t *testing.T) {
	header := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x03\x00\x08\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 40)
	for content, want := range map[string][2]string{
		"no library at all": {"it is no ELF file", "bad magic number"},
		"\x7fELF":           {"lib.so", "tool"},
		header:              {"no shared library", "EM_MIPS: expected x86_64 or aarch64"},
	} {
		if _, _, err := platform(File{Name: "lib.so", Content: []byte(content)}, nil); err == nil || !strings.Contains(err.Error(), want[0]) {
			t.Errorf("platform(%q): error %v, expected %q", content, err, want[0])
		}
		if _, _, err := programPlatform(File{Name: "tool", Content: []byte(content)}); err == nil || !strings.Contains(err.Error(), want[1]) {
			t.Errorf("programPlatform(%q): error %v, expected %q", content, err, want[1])
		}
	}
}
