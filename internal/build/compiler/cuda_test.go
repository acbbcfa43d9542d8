package compiler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

func TestFindCUDA(t *testing.T) {
	named, wheel, onPath := tooltest.NVCC(t, "13.2.1"), tooltest.NVCC(t, "13.2.2"), tooltest.NVCC(t, "12.9.3")
	bare := tooltest.NVCC(t, "13.2.4")
	if err := os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(bare)), "lib64")); err != nil {
		t.Fatal(err)
	}
	silent := tooltest.NVCC(t, "?")
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
			got, err := FindCUDA(t.Context(), env, getenv, tt.toolkit)
			switch {
			case tt.mistake != "" && (err == nil || !strings.Contains(err.Error(), tt.mistake)):
				t.Errorf("error %v, want %q in it", err, tt.mistake)
			case tt.mistake == "" && (err != nil || got.NVCC != tt.want):
				t.Errorf("got %+v, %v, want %s", got, err, tt.want)
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
		if got := strings.Join(CXX{Words: strings.Fields(words)}.NVCCFlags(), " "); got != want {
			t.Errorf("%s: got %s, want %s", words, got, want)
		}
	}
}

func TestArchErrors(t *testing.T) {
	for _, arch := range []string{"sm_80", "8.0", "90+ptx", "", "all"} {
		if _, err := Gencode([]string{"80", arch}); err == nil {
			t.Errorf("no error for the architecture %q", arch)
		}
	}
}
