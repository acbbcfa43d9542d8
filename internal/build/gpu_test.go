package build

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A default build goes without CUDA and says so; whoever asks for CUDA gets an error.
func TestChooseCUDA(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	nvcc := tooltest.NVCC(t, "13.2.1")
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

func TestCUDADebug(t *testing.T) {
	in := sampleCUDA()
	in.debug = true
	if got := " " + strings.Join(in.nvccFlags("-std=c++17"), " ") + " "; !strings.Contains(got, " -O0 -g -G ") || strings.Contains(got, " -O3 ") {
		t.Errorf("flags %s", got)
	}
}

// A library has kernels for GPUs of one vendor. What nobody asked for may lack, and the build says so.
func TestChooseGPU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	nvcc, hipcc := tooltest.NVCC(t, "13.2.1"), tooltest.HIPCC(t, "gfx90a")
	all := []string{"cpu", "cuda", "rocm"}
	tests := map[string]struct {
		chosen, except []string
		nvcc, hipcc    string
		want, note     string
	}{
		"both":              {nvcc: nvcc, hipcc: hipcc, want: "cuda", note: "ROCm was left out: a library has kernels for the GPUs of one vendor"},
		"both, rocm chosen": {chosen: []string{"cpu", "rocm"}, nvcc: nvcc, hipcc: hipcc, want: "rocm"},
		"both, one left":    {except: []string{"rocm"}, nvcc: nvcc, hipcc: hipcc, want: "cuda"},
		"only hipcc":        {hipcc: hipcc, want: "rocm", note: "CUDA was left out: no CUDA compiler"},
		"none":              {note: "CUDA was left out: no CUDA compiler"},
		"rocm lacks":        {chosen: []string{"rocm"}, want: "missing"},
		"only for the CPU":  {chosen: []string{"cpu"}, nvcc: nvcc, hipcc: hipcc},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := Options{Project: &opdef.Project{Manifest: manifest.Manifest{Devices: all}}, Devices: tt.chosen, Except: tt.except,
				Env: &pyenv.Env{}, Getenv: func(key string) string { return map[string]string{"NVCC": tt.nvcc, "HIPCC": tt.hipcc}[key] }}
			cuda, hip, notes, err := chooseGPU(t.Context(), o)
			var missing *pyenv.MissingError
			got := ""
			switch {
			case errors.As(err, &missing):
				got = "missing"
			case cuda != nil:
				got = "cuda"
			case hip != nil:
				got = "rocm"
			}
			if note := strings.Join(notes, "\n"); got != tt.want || !strings.HasPrefix(note, tt.note) || (note == "") != (tt.note == "") {
				t.Errorf("got %q, notes %q, error %v", got, notes, err)
			}
		})
	}
}

// The plan for AMD's GPUs: what nvcc alone understands is not said to another compiler.
func TestHIPUnits(t *testing.T) {
	in := sampleCUDA()
	in.cuda, in.hip = nil, &compiler.HIP{Words: []string{"clang++", "--rocm-path=/usr"}, Archs: []string{"gfx90a", "gfx942"}}
	in.project.Manifest.Files = []manifest.FileFlags{{Match: "**/*.cu", Flags: []string{"-lineinfo"}}, {Match: "**/*.hip", Flags: []string{"-O1"}}}
	want := map[string]string{"csrc/a.cu": "$hip", "csrc/a.hip": "$hip -O1", "opcast/gpu_hip.hip": "$hip $errors -O1"}
	in.kernels = []string{"csrc/a.cu", "csrc/a.hip"}
	got := map[string]string{}
	for source := range want {
		var err error
		if got[source], err = in.unitFlags(source); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
	words := " " + strings.Join(in.hipFlags(), " ") + " "
	for _, part := range []string{" -x hip ", " --offload-arch=gfx90a --offload-arch=gfx942 ", " -DOPCAST_ROCM_WARP=64 "} {
		if !strings.Contains(words, part) {
			t.Errorf("flags %s, want %q among them", words, part)
		}
	}
	if link := in.linkFlags(library{name: "x.so", sources: []string{"csrc/a.cu"}}); !strings.HasSuffix(link, " -ldl") || strings.Contains(link, "cudart") {
		t.Errorf("linked with %s", link)
	}
}
