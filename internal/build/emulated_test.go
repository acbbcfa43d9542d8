package build

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/internal/build/tree"
)

// The emulator's units make the driver or a part of the library, and a runtime is left out that is another vendor's.
func TestEmulations(t *testing.T) {
	runtime, err := tree.FindRuntime(t.TempDir(), backend.FS)
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, tree.LaidOut+"/emulator/"+name+".cc")
		}
		return out
	}
	driver := []string{"driver_contexts", "driver_launch", "driver_memory", "driver_state", "driver_streams"}
	for device, want := range map[string]struct {
		of              string
		driver, library []string
	}{
		Emulated:     {"cuda", in(driver...), in("bounds", "cudart", "emulator", "fiber")},
		EmulatedROCm: {"rocm", in(append(driver, "hip_runtime")...), in("bounds", "emulator", "fiber")},
	} {
		driver, library := emulationOf(device).split(runtime.Emulator)
		if diff := cmp.Diff([][]string{want.driver, want.library}, [][]string{driver, library}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", device, diff)
		}
		if of, emulated := Unemulated(device); of != want.of || !emulated {
			t.Errorf("%s stands for %s, %v", device, of, emulated)
		}
	}
	if of, emulated := Unemulated("rocm"); of != "rocm" || emulated {
		t.Errorf("rocm stands for %s, %v", of, emulated)
	}
}

// A unit for an emulated device of AMD's is one of C++, with the width of its wavefronts, whatever the manifest says to compilers for
// GPUs.
func TestEmulatedUnits(t *testing.T) {
	for arch, wave := range map[string]string{"gfx90a": "64", "gfx1100": "32"} {
		in := sampleCUDA()
		in.cuda, in.emulated, in.emulatedGFX = nil, emulationOf(EmulatedROCm), []string{arch}
		for _, source := range []string{"csrc/a.cu", "csrc/a.hip"} {
			flags, err := in.unitFlags(source)
			rule, _ := in.compilerOf(source)
			want := "$common -x c++ -O1 -DOPCAST_EMULATOR -Ibuild/runtime/emulator -Wno-unknown-pragmas -fsanitize=bounds" +
				" -fno-sanitize-recover=bounds -DOPCAST_EMULATOR_WARP=" + wave + " $errors"
			if diff := cmp.Diff(want, flags); err != nil || rule != "compile" || diff != "" {
				t.Errorf("%s by %s, %v (-want +got):\n%s", source, rule, err, diff)
			}
		}
	}
}
