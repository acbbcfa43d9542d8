package build

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/build/tree"
)

// Emulated is the name among devices that stands for CUDA on an emulated device: the C++ compiler makes the kernels, and beside the
// library a driver that runs them (backend/emulator).
const Emulated = "emulated"

// EmulatedROCm is the same for ROCm.
const EmulatedROCm = "emulated-rocm"

// emulation is a device in software.
type emulation struct {
	// name is its name among devices, and of the device of the manifest for which it stands.
	name, of string
	// driver is the file that whoever looks for a GPU of the vendor opens, exports are the beginnings of its functions' names.
	driver  string
	exports []string
	// drivers and not are the beginnings of the names of the emulator's units that make the driver, and of those that have no part
	// in this device; the others go into the library.
	drivers, not []string
}

// emulations are the emulated devices. That of HIP must be named like the version that is looked for first.
var emulations = []emulation{
	{name: Emulated, of: "cuda", driver: "libcuda.so.1", exports: []string{"cu"}, drivers: []string{"driver_"}, not: []string{"hip_"}},
	{
		name: EmulatedROCm, of: "rocm", driver: "libamdhip64.so.7", exports: []string{"hip", "__hip", "cuEmulator"},
		drivers: []string{"driver_", "hip_"}, not: []string{"cudart."},
	},
}

// emulationOf is the emulated device of a name; nil if the name is that of another device.
func emulationOf(device string) *emulation {
	for i := range emulations {
		if emulations[i].name == device {
			return &emulations[i]
		}
	}
	return nil
}

// emulationIn is the emulated device among devices; nil if there is none.
func emulationIn(devices []string) *emulation {
	for _, d := range devices {
		if e := emulationOf(d); e != nil {
			return e
		}
	}
	return nil
}

// Unemulated is the device of a manifest for which the name of a device stands, and whether it is an emulated one.
func Unemulated(device string) (string, bool) {
	if e := emulationOf(device); e != nil {
		return e.of, true
	}
	return device, false
}

// folder is where such a build lies, so that one for this machine's own devices stays as it is.
func (e *emulation) folder() string { return "build/" + e.name }

// driverFolder is where the driver lies in a project.
func (e *emulation) driverFolder() string { return e.folder() + "/driver" }

// DriverIn is the folder of the driver that a build for an emulated device leaves in the project in a folder. A process that has it
// in its LD_LIBRARY_PATH finds that driver under the name of a GPU's.
func DriverIn(dir, emulated string) string {
	return tree.Local(dir, emulationOf(emulated).driverFolder())
}

// split tells the units of the driver from those of the library.
func (e *emulation) split(units []string) (driver, library []string) {
	for _, s := range units {
		begins := func(prefix string) bool { return strings.HasPrefix(path.Base(s), prefix) }
		switch {
		case slices.ContainsFunc(e.drivers, begins):
			driver = append(driver, s)
		case !slices.ContainsFunc(e.not, begins):
			library = append(library, s)
		}
	}
	return driver, library
}

// isEmulated says whether a unit is a kernel or a part of the runtime that a compiler for GPUs would compile, or belongs to the
// emulator.
func (in inputs) isEmulated(source string) bool {
	return in.emulated != nil && (forGPU(source) || slices.Contains(in.runtime.Emulator, source))
}

// nvccTakes says whether nvcc compiles a unit.
func (in inputs) nvccTakes(source string) bool {
	rule, _ := in.compilerOf(source)
	return rule == nvccRule
}

// onCUDA and onROCm say whether the library has code for GPUs of that kind, for which device ever.
func (in inputs) onCUDA() bool { return in.cuda != nil || in.emulates("cuda") }
func (in inputs) onROCm() bool { return in.hip != nil || in.emulates("rocm") }

func (in inputs) emulates(device string) bool { return in.emulated != nil && in.emulated.of == device }

// gfx are AMD's architectures that the library is for.
func (in inputs) gfx() []string {
	if in.hip != nil {
		return in.hip.Archs
	}
	return in.emulatedGFX
}

// emulatedFlags compile a unit for the emulated device. What the manifest says of flags for GPUs is meant for their compilers, and
// optimisation changes no bit. "unroll" is a pragma of nvcc's. A kernel's index beyond an array ends the program
// (backend/emulator/bounds.cc).
func (in inputs) emulatedFlags(source string) []string {
	flags := []string{"-x", "c++", "-O1", "-DOPCAST_EMULATOR", "-I" + in.runtime.Root + "/emulator", "-Wno-unknown-pragmas"}
	if forGPU(source) {
		flags = append(flags, "-fsanitize=bounds", "-fno-sanitize-recover=bounds")
	}
	if in.emulates("rocm") {
		flags = append(flags, fmt.Sprint("-DOPCAST_EMULATOR_WARP=", compiler.Wave(in.gfx())))
	}
	return flags
}
