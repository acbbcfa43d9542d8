package build

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/pyenv"
)

// fakeHIP makes a compiler that knows its version, and which architectures it compiles for.
func fakeHIP(t *testing.T, archs string) (hipcc string) {
	t.Helper()
	hipcc = filepath.Join(t.TempDir(), "hipcc")
	write(t, hipcc, `#!/bin/sh
case "$*" in *--version*) echo 'HIP version: 6.1'; exit 0;; esac
for known in `+archs+`; do case "$*" in *--offload-arch=$known*) exit 0;; esac; done
echo unknown architecture
exit 1
`)
	if err := os.Chmod(hipcc, 0o755); err != nil {
		t.Fatal(err)
	}
	return hipcc
}

func TestFindHIP(t *testing.T) {
	both, old, none := fakeHIP(t, "gfx90a gfx942"), fakeHIP(t, "gfx90a"), fakeHIP(t, "")
	tests := map[string]struct {
		named, path, asked string
		manifest           []string
		want               string
		wave               int
	}{
		"named":                {named: both, want: "gfx90a gfx942", wave: 64},
		"with options":         {named: both + " --rocm-path=/usr", want: "gfx90a gfx942", wave: 64},
		"on path":              {path: old, want: "gfx90a", wave: 64},
		"knows none":           {named: none, want: "compiles for none of gfx90a and gfx942"},
		"gone":                 {named: "/no/hipcc", want: "$HIPCC names /no/hipcc, which is no program"},
		"none":                 {want: "no HIP compiler: $HIPCC is not set, hipcc is not on PATH"},
		"in the manifest":      {named: old, manifest: []string{"gfx1100", "gfx1201"}, want: "gfx1100 gfx1201", wave: 32},
		"of both kinds":        {named: old, manifest: []string{"gfx1100", "gfx90a"}, want: "not for both gfx1100 and gfx90a"},
		"in the environment":   {named: old, manifest: []string{"gfx1100"}, asked: "gfx942:xnack-", want: "gfx942:xnack-", wave: 64},
		"no architecture":      {named: old, asked: "90", want: "no architecture of AMD's"},
		"half an architecture": {named: old, manifest: []string{"gfx9"}, want: "no architecture of AMD's"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", filepath.Dir(tt.path)+":/usr/bin.none")
			getenv := func(key string) string { return map[string]string{"HIPCC": tt.named, GFXVariable: tt.asked}[key] }
			got, err := findHIP(t.Context(), getenv, &manifest.Manifest{ROCm: manifest.ROCm{Arch: tt.manifest}})
			switch {
			case tt.wave == 0 && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error %v, want %q in it", err, tt.want)
			case tt.wave != 0 && (err != nil || strings.Join(got.archs, " ") != tt.want || wave(got.archs) != tt.wave || got.version != "6.1"):
				t.Errorf("got %+v, %v, want %s", got, err, tt.want)
			}
		})
	}
}

// A library has kernels for GPUs of one vendor. What nobody asked for may lack, and the build says so.
func TestChooseGPU(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	nvcc, hipcc := fakeToolkit(t, "13.2.1"), fakeHIP(t, "gfx90a")
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
	in.cuda, in.hip = nil, &hip{words: []string{"clang++", "--rocm-path=/usr"}, archs: []string{"gfx90a", "gfx942"}}
	in.project.Manifest.Files = []manifest.FileFlags{{Match: "**/*.cu", Flags: []string{"-lineinfo"}}, {Match: "**/*.hip", Flags: []string{"-O1"}}}
	want := map[string]string{"csrc/a.cu": "$hip", "csrc/a.hip": "$hip -O1", "opcast/gpu_hip.hip": "$hip -Werror -O1"}
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
