package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"
	"github.com/opcast/opcast/internal/opdef/manifest"
	"github.com/opcast/opcast/internal/pyenv"
)

// usualGFX are built where the manifest names none, if the compiler knows them: CDNA 2 and 3.
var usualGFX = []string{"gfx90a", "gfx942"}

// hip is a compiler for AMD's GPUs: the words that start its command, what tells it from any other, its version, and the
// architectures to compile for.
type hip struct {
	words             []string
	identity, version string
	archs             []string
}

// GFXVariable names the variable of the environment with AMD's architectures to compile for instead of the manifest's, separated
// by commas.
const GFXVariable = "OPCAST_ROCM_ARCH"

// hipVariables change what hipcc starts, and where it looks for headers and for the functions of devices.
var hipVariables = []string{"HIPCC_COMPILE_FLAGS_APPEND", "HIP_CLANG_PATH", "HIP_PATH", "ROCM_PATH", "HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH"}

// installedHIP is where ROCm's own packages put the compiler, which need not be on PATH.
const installedHIP = "/opt/rocm/bin/hipcc"

// findHIP takes $HIPCC if it is set, which may also be clang with options, else the hipcc on PATH, else that of ROCm's packages.
func findHIP(ctx context.Context, getenv func(string) string, m *manifest.Manifest) (*hip, error) {
	words, err := locateHIP(getenv)
	if err != nil {
		return nil, err
	}
	text, err := identity(ctx, words)
	if err != nil {
		return nil, err
	}
	version, _, _ := strings.Cut(text, "\n")
	for _, name := range hipVariables {
		text += name + "=" + getenv(name) + "\n"
	}
	h := &hip{words: words, identity: text, version: strings.TrimPrefix(version, "HIP version: ")}
	h.archs, err = h.chooseArchs(ctx, m.ROCm.Arch, getenv)
	return h, err
}

// FindHIP finds the compiler for AMD's GPUs that a build uses, and returns its version, its program and the architectures.
func FindHIP(ctx context.Context, getenv func(string) string, m *manifest.Manifest) (string, error) {
	h, err := findHIP(ctx, getenv, m)
	if err != nil {
		return "", err
	}
	return h.version + ", " + strings.Join(h.words, " ") + ", for " + strings.Join(h.archs, " and "), nil
}

func locateHIP(getenv func(string) string) ([]string, error) {
	words, err := shellquote.Split(getenv("HIPCC"))
	if err != nil {
		return nil, &pyenv.MissingError{Text: fmt.Sprintf("no HIP compiler: $HIPCC is %s: %v", getenv("HIPCC"), err)}
	}
	if len(words) > 0 {
		if _, err := exec.LookPath(words[0]); err != nil {
			return nil, &pyenv.MissingError{Text: "no HIP compiler: $HIPCC names " + words[0] + ", which is no program"}
		}
		return words, nil
	}
	for _, name := range []string{"hipcc", installedHIP} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, &pyenv.MissingError{
		Text:    "no HIP compiler: $HIPCC is not set, hipcc is not on PATH and there is no " + installedHIP,
		Command: "apt-get install hipcc libamdhip64-dev rocm-device-libs   (or your system's equivalent)",
	}
}

var gfxPattern = regexp.MustCompile(`^gfx[0-9a-f]{3,4}(:(xnack|sramecc)[+-])*$`)

// namedArchs are the architectures that the environment or the manifest names; none if neither does.
func namedArchs(named []string, getenv func(string) string) ([]string, error) {
	if text := getenv(GFXVariable); text != "" {
		named = strings.Split(text, ",")
	}
	for _, arch := range named {
		if !gfxPattern.MatchString(arch) {
			return nil, fmt.Errorf(`arch %q of [rocm] in opcast.toml or %s is no architecture of AMD's: expected for example "gfx90a"`, arch, GFXVariable)
		}
	}
	if i := slices.IndexFunc(named, func(a string) bool { return isGFX9(a) != isGFX9(named[0]) }); i >= 0 {
		return nil, fmt.Errorf("a library is for wavefronts of 64 threads or for those of 32: not for both %s and %s", named[0], named[i])
	}
	return named, nil
}

// chooseArchs are the architectures to compile for: those that are named, else those of the usual ones that the compiler knows.
func (h *hip) chooseArchs(ctx context.Context, named []string, getenv func(string) string) ([]string, error) {
	named, err := namedArchs(named, getenv)
	if err != nil || len(named) > 0 {
		return named, err
	}
	var says error
	known := slices.DeleteFunc(slices.Clone(usualGFX), func(arch string) bool {
		words := append(h.words[1:len(h.words):len(h.words)], "-x", "hip", "--offload-arch="+arch, "-c", "-o", os.DevNull, os.DevNull)
		out, err := exec.CommandContext(ctx, h.words[0], words...).CombinedOutput()
		if err != nil {
			says = fmt.Errorf("%w\n%s", err, out)
		}
		return err != nil
	})
	if len(known) == 0 {
		return nil, &pyenv.MissingError{Text: fmt.Sprintf("%s compiles for none of %s: %v", h.words[0], strings.Join(usualGFX, " and "), says)}
	}
	return known, nil
}

// emulatedArchs are the architectures for which an emulated device stands: those that are named, else the usual ones.
func emulatedArchs(named []string, getenv func(string) string) ([]string, error) {
	named, err := namedArchs(named, getenv)
	if err == nil && len(named) == 0 {
		named = usualGFX
	}
	return named, err
}

// wave is the number of threads that run together on the architectures.
func wave(archs []string) int {
	if isGFX9(archs[0]) {
		return 64
	}
	return 32
}

// isGFX9 says whether an architecture is older than gfx10, which was the first with wavefronts of 32: those of three digits.
func isGFX9(arch string) bool {
	name, _, _ := strings.Cut(arch, ":")
	return len(name) == len("gfx90a")
}

// hipFlags are the compiler's options of all units for AMD's GPUs.
func (in inputs) hipFlags() []string {
	flags := append([]string{"-x", "hip", "-std=c++17", "-fuse-cuid=none"}, baseFlags...) // ids would follow from the folder
	if in.debug {
		flags = append(flags, "-O0", "-g")
	} else {
		flags = append(flags, "-O3", "-g0")
	}
	for _, arch := range in.hip.archs {
		flags = append(flags, "--offload-arch="+arch)
	}
	flags = append(flags, `-DOPCAST_COLLECTION="`+in.project.Manifest.Name+`"`, "-DOPCAST_ROCM=1", fmt.Sprint("-DOPCAST_ROCM_WARP=", wave(in.hip.archs)))
	for _, f := range in.projectFlags() {
		flags = append(flags, f[0]+f[1])
	}
	return slices.Concat(flags, in.systemWords(), in.project.Manifest.ROCm.Flags)
}

// chooseGPU finds the compilers for GPUs. A library has kernels for those of one vendor, since a source that compiles for both has
// the same functions for each: CUDA where the manifest leaves the choice. A compiler may lack, with a note, unless it was asked for.
func chooseGPU(ctx context.Context, o Options) (cuda *cuda, hip *hip, notes []string, err error) {
	cuda, notes, err = chooseCUDA(ctx, o)
	switch {
	case err != nil || !slices.Contains(o.devices(), "rocm"):
		return cuda, nil, notes, err
	case cuda != nil || emulationIn(o.Devices) != nil:
		const note = "ROCm was left out: a library has kernels for the GPUs of one vendor\n  run: opcast build --device cpu,rocm"
		return cuda, nil, append(notes, note), nil
	}
	hip, err = findHIP(ctx, o.Getenv, &o.Project.Manifest)
	var missing *pyenv.MissingError
	if len(o.Devices) == 0 && o.Getenv("HIPCC") == "" && errors.As(err, &missing) {
		return nil, nil, append(notes, "ROCm was left out: "+missing.Error()), nil
	}
	return nil, hip, notes, err
}
