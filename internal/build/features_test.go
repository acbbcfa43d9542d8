package build

import (
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
