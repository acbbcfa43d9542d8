package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/pyenv"
)

// fakeToolkit makes a CUDA toolkit whose compiler only knows its version.
func fakeToolkit(t *testing.T, version string) (nvcc string) {
	t.Helper()
	root := t.TempDir()
	nvcc = filepath.Join(root, "bin", "nvcc")
	write(t, nvcc, "#!/bin/sh\necho 'Cuda compilation tools, release 13.2, V"+version+"'\n")
	if err := os.Chmod(nvcc, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "lib64", "libcudart_static.a"), "")
	return nvcc
}

func TestFindCUDA(t *testing.T) {
	named, wheel, onPath := fakeToolkit(t, "13.2.1"), fakeToolkit(t, "13.2.2"), fakeToolkit(t, "12.9.3")
	bare := fakeToolkit(t, "13.2.4")
	if err := os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(bare)), "lib64")); err != nil {
		t.Fatal(err)
	}
	silent := fakeToolkit(t, "?")
	tests := map[string]struct {
		named, wheel, path, toolkit string
		want, mistake               string
	}{
		"named first":     {named, wheel, onPath, "", named, ""},
		"path next":       {"", wheel, onPath, "", onPath, ""},
		"wheel last":      {"", wheel, "", "", wheel, ""},
		"none":            {"", "", "", "", "", "pip install nvidia-cuda-nvcc=="},
		"named and gone":  {"/no/nvcc", wheel, onPath, "", "", "$NVCC names /no/nvcc, which is no program"},
		"right toolkit":   {"", wheel, "", "13.2", wheel, ""},
		"beginning of it": {"", wheel, "", "13", wheel, ""},
		"wrong toolkit":   {"", "", onPath, "13", "", "opcast.toml wants the CUDA toolkit 13, and"},
		"not 1 of 13":     {"", wheel, "", "1", "", "wants the CUDA toolkit 1, and"},
		"no cudart":       {bare, "", "", "", "", "has no libcudart_static.a"},
		"no version":      {silent, "", "", "", "", "no release in"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Dir(tt.path))
			env := &pyenv.Env{Python: "/env/bin/python", NVCC: tt.wheel}
			getenv := func(key string) string { return map[string]string{"NVCC": tt.named}[key] }
			got, err := findCUDA(t.Context(), env, getenv, tt.toolkit)
			switch {
			case tt.mistake != "" && (err == nil || !strings.Contains(err.Error(), tt.mistake)):
				t.Errorf("error %v, want %q in it", err, tt.mistake)
			case tt.mistake == "" && (err != nil || got.nvcc != tt.want):
				t.Errorf("got %+v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// A default build goes without CUDA and says so; whoever asks for CUDA gets an error.
func TestChooseCUDA(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	nvcc := fakeToolkit(t, "13.2.1")
	tests := map[string]struct {
		devices, chosen []string
		named, note     string
		found, fails    bool
	}{
		"no cuda in the manifest": {devices: []string{"cpu"}, named: nvcc},
		"found":                   {devices: []string{"cpu", "cuda"}, named: nvcc, found: true},
		"not asked for":           {devices: []string{"cpu", "cuda"}, chosen: []string{"cpu"}, named: nvcc},
		"lacks":                   {devices: []string{"cpu", "cuda"}, note: "CUDA was left out: no CUDA compiler"},
		"lacks, asked for":        {devices: []string{"cpu", "cuda"}, chosen: []string{"cuda"}, fails: true},
		"lacks, named":            {devices: []string{"cpu", "cuda"}, named: "/no/nvcc", fails: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Project: &opdef.Project{Manifest: manifest.Manifest{Devices: tt.devices}}, Devices: tt.chosen,
				Env: &pyenv.Env{}, Getenv: func(string) string { return tt.named }}
			got, notes, err := chooseCUDA(t.Context(), o)
			note := strings.Join(notes, "\n")
			var missing *pyenv.MissingError
			if (got != nil) != tt.found || errors.As(err, &missing) != tt.fails || !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("got %v, note %q, error %v", got, note, err)
			}
		})
	}
}

func TestHostCompiler(t *testing.T) {
	for words, want := range map[string]string{
		"g++":             "-ccbin g++ -Xcompiler -fno-gnu-unique",
		"ccache g++":      "-ccbin g++ -Xcompiler -fno-gnu-unique",
		"g++ -m64":        "-ccbin g++ -Xcompiler -m64 -Xcompiler -fno-gnu-unique",
		"/opt/ccache g++": "-ccbin g++ -Xcompiler -fno-gnu-unique",
	} {
		if got := strings.Join(compiler{words: strings.Fields(words)}.nvccFlags(), " "); got != want {
			t.Errorf("%s: got %s, want %s", words, got, want)
		}
	}
}

func TestCUDADebug(t *testing.T) {
	in := sampleCUDA()
	in.debug = true
	if got := " " + strings.Join(in.nvccFlags(), " ") + " "; !strings.Contains(got, " -O0 -g -G ") || strings.Contains(got, " -O3 ") {
		t.Errorf("flags %s", got)
	}
}
