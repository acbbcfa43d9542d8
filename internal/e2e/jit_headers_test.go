package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A package that includes headers of a Python distribution builds itself in the project, where the distribution is
// installed, and anywhere with the copy that it carries.
func TestJITHeaders(t *testing.T) {
	python(t)
	j := newJIT(t)
	j.cpuOnly()
	site := t.TempDir()
	info := filepath.Join(site, "fit_headers-1.2.dist-info")
	write(t, filepath.Join(site, "fit", "include", "fit", "factor.hpp"), []byte("#pragma once\nconstexpr int kFit = 2;\n"))
	write(t, filepath.Join(info, "METADATA"), []byte("Metadata-Version: 2.1\nName: fit-headers\nVersion: 1.2\n"))
	write(t, filepath.Join(info, "RECORD"), []byte("fit/include/fit/factor.hpp,,\n"))
	edit(t, filepath.Join(j.dir, "opcast.toml"), "[[files]]", "[headers.fit]\npip = \"fit-headers\"\n[[files]]")
	edit(t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), `#include "scale.gen.h"`, "#include \"scale.gen.h\"\n#include <fit/factor.hpp>")
	edit(t, filepath.Join(j.dir, "csrc/cpu/scale.cc"), "* kFactor", "* kFactor * kFit")
	j.generate()

	packages := j.path()
	j.setPath(packages + ":" + site)
	j.mustBuild("headers in the environment", twice)
	j.setPath(packages)
	out, err := j.python(jitCall, "OPCAST_CACHE_DIR="+t.TempDir()).CombinedOutput()
	if want := "headers of fit: this Python has no distribution fit-headers: pip install fit-headers"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, want %q in\n%s", err, want, out)
	}

	t.Setenv("PYTHONPATH", site)
	mustOpcast(t, "build", "--jit", "-C", j.dir, "--python", j.interpreter)
	t.Setenv("PYTHONPATH", "")
	elsewhere := t.TempDir()
	for _, folder := range []string{"backend/python/src", "adaptors/numpy/src"} {
		if err := os.CopyFS(elsewhere, os.DirFS(filepath.Join(j.dir, folder))); err != nil {
			t.Fatal(err)
		}
	}
	j.setPath(elsewhere)
	j.cache = t.TempDir()
	j.mustBuild("headers in the package", twice, "OPCAST_CACHE_DIR="+j.cache)
}

// path is the path on which the project's packages are found; setPath replaces it.
func (j *jit) path() string {
	text, _ := strings.CutPrefix(j.env[len(j.env)-1], "PYTHONPATH=")
	return text
}

func (j *jit) setPath(path string) { j.env[len(j.env)-1] = "PYTHONPATH=" + path }
