package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/opcast/opcast/internal/build/tree"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A header without a warning option's blessing: with -Wall it would be an error, if it were not one of others.
const foreign = "#pragma once\nnamespace { int NeverCalled() { return 0; } }\ninline int Foreign() { return 5; }\n"

// withHeaders is a demo whose kernel includes foreign headers, with a Python that can answer. It makes errors of warnings.
func withHeaders(t *testing.T, headers map[string]manifest.Header) *demo {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	finder, err := os.ReadFile(filepath.Join("..", "..", "backend", headerFinder))
	if err != nil {
		t.Fatal(err)
	}
	d := newDemo(t)
	runtime := fstest.MapFS{headerFinder: {Data: finder}}
	for name, file := range demoRuntime {
		runtime[name] = file
	}
	d.Runtime, d.Env.Python = runtime, python
	d.Project.Manifest.Build.Werror, d.Project.Manifest.Headers = true, headers
	d.Project.ManifestText = []byte("name = \"demo\"\n[headers.fit]\npip = \"fit-headers\"\n")
	return d
}

// site is a folder of installed packages with one distribution, which has headers and nothing else.
func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tooltest.Write(t, filepath.Join(dir, "fit", "include", "fit", "Foreign"), foreign)
	info := filepath.Join(dir, "fit_headers-1.2.dist-info")
	tooltest.Write(t, filepath.Join(info, "METADATA"), "Metadata-Version: 2.1\nName: fit-headers\nVersion: 1.2\n")
	tooltest.Write(t, filepath.Join(info, "LICENSE"), "free\n")
	tooltest.Write(t, filepath.Join(info, "RECORD"), "fit/include/fit/Foreign,,\nfit/__init__.py,,\nfit_headers-1.2.dist-info/LICENSE,,\nfit_headers-1.2.dist-info/METADATA,,\n")
	t.Setenv("PYTHONPATH", dir)
	return dir
}

func (d *demo) includes(header string) {
	d.write("csrc/other.cc", "#include <"+header+">\nint Other() { return Foreign(); }\n")
}

// Headers of a distribution, of the project, of an absolute folder and of the system are found, without warnings. An edited
// one is noticed.
func TestHeaders(t *testing.T) {
	folder := site(t)
	inside := filepath.Join(folder, "fit", "include")
	t.Setenv("PKG_CONFIG_PATH", folder)
	tooltest.Write(t, filepath.Join(folder, "fitting.pc"), "Name: fitting\nDescription: headers\nVersion: 1\nCflags: -I"+inside+"\n")
	for name, header := range map[string]manifest.Header{
		"pip": {Pip: "fit-headers"}, "folder": {Pip: "fit-headers", Include: "fit/include"}, "path": {Path: "third/party/"},
		"absolute": {Path: inside}, "system": {System: "fitting"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("pkg-config"); name == "system" && err != nil {
				t.Skip(err)
			}
			d := withHeaders(t, map[string]manifest.Header{"fit": header})
			file := filepath.Join(inside, "fit", "Foreign")
			if name == "path" {
				file = d.path("third/party/fit/Foreign")
			}
			tooltest.Write(t, file, foreign)
			d.includes("fit/Foreign")
			if got := d.compiled(); len(got) != 4 {
				t.Errorf("compiled %q", got)
			}
			if strings.Contains(d.log.String(), "NeverCalled") {
				t.Errorf("a warning about a header of others:\n%s", d.log.String())
			}
			tooltest.Write(t, file, strings.Replace(foreign, "5", "6", 1))
			if got := strings.Join(d.compiled(), " "); got != "other.cc" {
				t.Errorf("an edited header compiles %q", got)
			}
		})
	}
}

// Headers that this machine lacks are findings.
func TestHeadersLack(t *testing.T) {
	folder := site(t)
	for name, tt := range map[string]struct {
		header manifest.Header
		want   string
	}{
		"distribution": {manifest.Header{Pip: "fit-nothing"}, "opcast.toml:3:7: error: headers of fit: this Python has no distribution fit-nothing: pip install fit-nothing [B005]"},
		"folder":       {manifest.Header{Pip: "fit-headers", Include: "fit/inc"}, "the distribution fit-headers has no folder fit/inc [B005]"},
		"path":         {manifest.Header{Path: "third"}, "headers of fit: the project has no folder third [B005]"},
		"absolute":     {manifest.Header{Path: folder + "/nowhere"}, "headers of fit: there is no folder " + folder + "/nowhere [B005]"},
		"system":       {manifest.Header{System: "fit-nothing"}, "pkg-config does not know fit-nothing, and there is no folder fit-nothing in /usr/local/include or /usr/include"},
	} {
		t.Run(name, func(t *testing.T) {
			d := withHeaders(t, map[string]manifest.Header{"fit": tt.header})
			_, findings, _, err := d.build()
			if err != nil || len(findings) != 1 || !strings.Contains(findings[0].String(), tt.want) {
				t.Errorf("findings %v, error %v", findings, err)
			}
		})
	}
	tooltest.Write(t, filepath.Join(folder, "fit_headers-1.2.dist-info", "RECORD"), "a/include/x.h,,\nb/include/x.h,,\n")
	d := withHeaders(t, map[string]manifest.Header{"fit": {Pip: "fit-headers"}})
	_, findings, _, err := d.build()
	const want = "has several folders include: a/include, b/include; say with include which folder has the headers"
	if err != nil || len(findings) != 1 || !strings.Contains(findings[0].Text, want) {
		t.Errorf("findings %v, error %v", findings, err)
	}
}

// A package carries the headers of distributions with their licenses, and every file of the project's headers.
func TestPackHeaders(t *testing.T) {
	site(t)
	d := withHeaders(t, map[string]manifest.Header{"fit": {Pip: "fit-headers"}, "own": {Path: "third"}, "there": {Path: t.TempDir()}})
	d.write("third/Own", foreign)
	found, lacking, err := FindHeaders(t.Context(), d.Project, d.Env, d.Runtime)
	if err != nil || len(lacking) > 0 {
		t.Fatal(err, lacking)
	}
	if err := tree.LayRuntime(d.Project.Dir, d.Runtime); err != nil {
		t.Fatal(err)
	}
	if _, err := Pack(d.Project, d.Runtime, found); err != nil {
		t.Fatal(err)
	}
	const home = "backend/python/src/demo_backend/"
	for file, want := range map[string]string{"headers/fit/fit/Foreign": foreign, "headers/fit/licenses/0-LICENSE": "free\n", "source/third/Own": foreign} {
		if got := string(d.read(home + file)); got != want {
			t.Errorf("%s holds %q", file, got)
		}
	}
	if entries, err := os.ReadDir(d.path(home + "headers")); err != nil || len(entries) != 1 {
		t.Errorf("headers holds %v (%v)", entries, err)
	}
}
