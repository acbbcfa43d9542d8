package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCMakeFindsTheLibrary: programs link the library that Python takes: one for CUDA beside the backend, the backend's own, or one
// that is built when it is needed. The files are empty, since CMake only has to find them.
func TestCMakeFindsTheLibrary(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Skip(err)
	}
	const own, cu12, cu13 = "opcast_backend/lib/libopcast.so", "opcast_backend_cu12/lib/libopcast.so", "opcast_backend_cu13/lib/libopcast.so"
	for name, tt := range map[string]struct {
		libraries []string
		words     []string
		want      string
	}{
		"own":           {[]string{own}, nil, "SITE/" + own},
		"CUDA's":        {[]string{own, cu13}, nil, "SITE/opcast_backend/../" + cu13},
		"two":           {[]string{own, cu12, cu13}, nil, "are all installed, and one library can serve"},
		"another's":     {[]string{own, "opcast_backend_cu13_more/lib/libopcast.so", "opcast_backend_custom/lib/libopcast.so"}, nil, "SITE/" + own},
		"named":         {[]string{own, cu13}, []string{"-Dopcast_LIBRARY=/opt/libopcast.so"}, "/opt/libopcast.so"},
		"built later":   {nil, []string{"-DPython_EXECUTABLE=SITE/python"}, "/cache/libopcast.so"},
		"no such build": {nil, []string{"-DPython_EXECUTABLE=SITE/broken"}, "No module named opcast_backend"},
	} {
		t.Run(name, func(t *testing.T) {
			site := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(site, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, library := range tt.libraries {
				write(library, "")
			}
			for _, file := range []string{"opcastConfig.cmake", "opcastConfigVersion.cmake"} {
				text, err := os.ReadFile(filepath.Join(root(t), "backend/python/src/opcast_backend/cmake", file))
				if err != nil {
					t.Fatal(err)
				}
				write("opcast_backend/cmake/"+file, string(text))
			}
			write("tvm_ffi/share/cmake/tvm_ffi/tvm_ffiConfig.cmake", "add_library(tvm_ffi::shared SHARED IMPORTED)\n")
			write("opcast_backend/include/opcast/ops.h", "")
			write("python", "#!/bin/sh\ncase \"$*\" in *--libfile) echo /cache/libopcast.so;; *) exec "+python(t)+" \"$@\";; esac\n")
			write("broken", "#!/bin/sh\ncase \"$*\" in *--libfile) echo No module named opcast_backend >&2; exit 1;; *) exec "+python(t)+" \"$@\";; esac\n")
			write("project/CMakeLists.txt", "cmake_minimum_required(VERSION 3.18)\nproject(x CXX)\nfind_package(opcast REQUIRED)\n"+
				"get_target_property(found opcast::ops IMPORTED_LOCATION)\nmessage(STATUS \"found: ${found}\")\n")
			words := []string{"-S", filepath.Join(site, "project"), "-B", filepath.Join(site, "build"), "-DCMAKE_PREFIX_PATH=" + filepath.Join(site, "opcast_backend/cmake")}
			for _, word := range tt.words {
				words = append(words, strings.ReplaceAll(word, "SITE", site))
			}
			out, err := exec.Command("cmake", words...).CombinedOutput()
			want := strings.ReplaceAll(tt.want, "SITE", site)
			if fails := !strings.HasPrefix(want, "/"); fails != (err != nil) || !strings.Contains(strings.Join(strings.Fields(string(out)), " "), want) {
				t.Errorf("cmake: %v, expected %q\n%s", err, want, out)
			}
		})
	}
}
