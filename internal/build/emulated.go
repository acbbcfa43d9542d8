package build

import (
	"path"
	"slices"
	"strings"
)

// Emulated is the name among devices that stands for CUDA on the emulated device: the C++ compiler makes the kernels for
// CUDA, and beside the library a driver that runs them (backend/emulator).
const Emulated = "emulated"

// emulatedFolder is where such a build lies, so that one for this machine's own devices stays as it is.
const emulatedFolder = "build/emulated"

// driverPrefix is the beginning of the names of a driver's functions.
const driverPrefix = "cu"

// driverFolder is where the driver lies in a project.
const driverFolder = emulatedFolder + "/driver"

// DriverIn is the folder of the driver that a build for the emulated device leaves in the project in a folder. A process that
// has it in its LD_LIBRARY_PATH finds that driver under the name of a GPU's.
func DriverIn(dir string) string { return local(dir, driverFolder) }

// driverSource is the beginning of the names of the emulator's units that make the driver; the others go into the library.
const driverSource = "driver_"

// splitEmulator tells the units of the driver from those of the library.
func (t tree) splitEmulator() (driver, library []string) {
	for _, s := range t.emulator {
		if strings.HasPrefix(path.Base(s), driverSource) {
			driver = append(driver, s)
		} else {
			library = append(library, s)
		}
	}
	return driver, library
}

// isEmulated says whether a unit is a kernel or a part of the runtime that nvcc would compile, or belongs to the emulator.
func (in inputs) isEmulated(source string) bool {
	return in.emulated && (path.Ext(source) == cudaSuffix || slices.Contains(in.runtime.emulator, source))
}

// nvccTakes says whether nvcc compiles a unit.
func (in inputs) nvccTakes(source string) bool {
	rule, _ := in.compilerOf(source)
	return rule == nvccRule
}

// onCUDA says whether the library has code for CUDA, for which device ever.
func (in inputs) onCUDA() bool { return in.cuda != nil || in.emulated }

// emulatedFlags compile a unit for the emulated device. What the manifest says of flags for CUDA is meant for nvcc, and
// optimisation changes no bit. "unroll" is a pragma of nvcc's.
func (in inputs) emulatedFlags() []string {
	return []string{"-x", "c++", "-O1", "-DOPCAST_EMULATOR", "-I" + in.runtime.root + "/emulator", "-Wno-unknown-pragmas"}
}
