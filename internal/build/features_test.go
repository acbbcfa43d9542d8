package build

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/ninja"
)

// Sources of kernels that ask for features are compiled for them and linked last: of an inline function in several objects,
// the linker keeps the first.
func TestFeatures(t *testing.T) {
	in := sampleInputs()
	in.project.Ops = []*opdef.Op{{Name: "dot", Devices: []string{"cpu"}, Kernels: []opdef.Kernel{
		{Name: "dot_bf16", Devices: []string{"cpu"}, Features: []string{"avx512_bf16", "fma"}},
		{Name: "dot_avx2", Devices: []string{"cpu"}, Features: []string{"avx2"}},
		{Name: "dot", Devices: []string{"cpu"}},
	}}}
	in.kernels = []string{"csrc/a/dot_bf16.cc", "csrc/dot.cc", "csrc/dot_avx2.cpp", "csrc/dot_avx2.cu", "csrc/zero.cc"}
	in.features = in.sourceFeatures()
	want := []string{"csrc/dot.cc", "csrc/dot_avx2.cu", "csrc/zero.cc", "csrc/dot_avx2.cpp", "csrc/a/dot_bf16.cc"}
	if diff := cmp.Diff(want, in.inLinkOrder()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	for source, want := range map[string]string{"csrc/a/dot_bf16.cc": "-mavx512bf16 -mfma", "csrc/dot_avx2.cpp": "-mavx2", "csrc/dot.cc": ""} {
		flags, err := in.unitFlags(source)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimPrefix(ninja.Expand(flags, append(in.machine("0f"), in.flags()...)), ninja.Expand("$common", append(in.machine("0f"), in.flags()...)))
		if runtime.GOARCH != "amd64" {
			want = ""
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%s is compiled with %q, want %q", source, got, want)
		}
	}
	in.kernels = in.kernels[:4]
	if findings := in.missingSources(); len(findings) != 0 {
		t.Errorf("findings %v", findings)
	}
	in.kernels = []string{"csrc/dot.cc", "csrc/dot_avx2.cu"}
	if findings := in.missingSources(); len(findings) != 2 || findings[0].Code != "B006" {
		t.Errorf("findings %v", findings)
	}
}

// restricted is a project with kernels of which some compilers take the files, by their devices and compilers.
func restricted(emulated, vendor string) inputs {
	in := sampleCUDA()
	in.cuda = nil
	switch {
	case emulated != "":
		in.emulated = emulationOf(emulated)
	case vendor == "cuda":
		in.cuda = &compiler.CUDA{}
	case vendor == "rocm":
		in.hip = &compiler.HIP{}
	}
	devices := []string{"cpu", "cuda", "rocm"}
	kernel := func(name, devices, compilers string) opdef.Kernel {
		return opdef.Kernel{Name: name, Devices: strings.Fields(devices), Compilers: strings.Fields(compilers)}
	}
	in.project.Ops = []*opdef.Op{{Name: "sort", File: "opdefs/sort.toml", Devices: devices, Kernels: []opdef.Kernel{
		kernel("sort_cub", "cuda", "nvcc"), kernel("sort_lt", "cuda", "nvcc c++"), kernel("sort_prim", "cuda rocm", "nvcc hipcc"), kernel("sort", "cuda rocm", ""),
	}}}
	return in
}

// Each build takes the files of the kernels that its compiler takes, and all that no kernel is named like.
func TestFilesOfCompilers(t *testing.T) {
	all := []string{"csrc/cpu/sort_cub.cc", "csrc/cuda/sort.cu", "csrc/cuda/sort_cub.cu", "csrc/cuda/sort_lt.cu", "csrc/cuda/sort_prim.cu"}
	for _, c := range []struct{ emulated, vendor, without string }{
		{"", "cuda", ""}, {"", "rocm", "sort_cub.cu sort_lt.cu"}, {Emulated, "", "sort_cub.cu sort_prim.cu"},
		{EmulatedROCm, "", "sort_cub.cu sort_lt.cu sort_prim.cu"},
	} {
		in := restricted(c.emulated, c.vendor)
		in.kernels = slices.DeleteFunc(slices.Clone(all), in.leavesOut)
		var want []string
		for _, source := range all {
			if !slices.Contains(strings.Fields(c.without), strings.TrimPrefix(source, "csrc/cuda/")) {
				want = append(want, source)
			}
		}
		if diff := cmp.Diff(want, in.kernels); diff != "" {
			t.Errorf("%s%s takes other files (-want +got):\n%s", c.emulated, c.vendor, diff)
		}
		if findings := in.missingFiles(); len(findings) > 0 {
			t.Errorf("%s%s: %v", c.emulated, c.vendor, findings)
		}
	}
}

// A kernel of which some compilers take the file needs one of its own, where such a compiler is at work.
func TestMissingFiles(t *testing.T) {
	for _, c := range []struct{ emulated, vendor, want string }{
		{"", "cuda", "sort_cub sort_lt sort_prim"}, {"", "rocm", "sort_prim"}, {Emulated, "", "sort_lt"}, {"", "", ""},
	} {
		in := restricted(c.emulated, c.vendor)
		in.kernels = []string{"csrc/cpu/sort_cub.cc", "csrc/cuda/sort.cu"}
		var got []string
		for _, f := range in.missingFiles() {
			got = append(got, strings.Fields(f.Text)[4])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s%s misses the files of %v, want %s", c.emulated, c.vendor, got, c.want)
		}
	}
}

// The standard of C++ that a file asks for is one for every compiler, and nvcc is given no other.
func TestStandardOfFile(t *testing.T) {
	for _, c := range []struct{ emulated, vendor, want, not string }{
		{"", "cuda", "-std=c++20 -fmad=false", "-std=c++17"}, {"", "rocm", "$hip -std=c++20", "-maxrregcount"},
		{Emulated, "", "-std=c++20", "-maxrregcount"},
	} {
		in := restricted(c.emulated, c.vendor)
		in.project.Manifest.Files[0].Flags = []string{"-maxrregcount=64", "-std=c++20"}
		flags, err := in.unitFlags("csrc/cuda/scale_sm90.cu")
		if err != nil || !strings.Contains(flags, c.want) || strings.Contains(flags, c.not) {
			t.Errorf("%s%s: %v %s: want %s and no %s", c.emulated, c.vendor, err, flags, c.want, c.not)
		}
	}
}
