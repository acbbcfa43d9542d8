package compiler

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// usualGFX are built where the manifest names none, if the compiler knows them: CDNA 2 to 4.
var usualGFX = []string{"gfx90a", "gfx942", "gfx950"}

// HIP is a compiler for AMD's GPUs: the words that start its command, what tells it from any other, its version, and the
// architectures to compile for.
type HIP struct {
	Words             []string
	Identity, version string
	Archs             []string
}

// GFXVariable names the variable of the environment with AMD's architectures to compile for instead of the manifest's, separated
// by commas.
const GFXVariable = "OPCAST_ROCM_ARCH"

// hipVariables change what hipcc starts, and where it looks for headers and for the functions of devices.
var hipVariables = []string{"HIPCC_COMPILE_FLAGS_APPEND", "HIP_CLANG_PATH", "HIP_PATH", "ROCM_PATH", "HIP_DEVICE_LIB_PATH", "DEVICE_LIB_PATH"}

// installedHIP is where ROCm's own packages put the compiler, which need not be on PATH.
const installedHIP = "/opt/rocm/bin/hipcc"

// FindHIP takes $HIPCC if it is set, which may also be clang with options, else the hipcc on PATH, else that of ROCm's packages.
func FindHIP(ctx context.Context, getenv func(string) string, m *manifest.Manifest) (*HIP, error) {
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
	h := &HIP{Words: words, Identity: text, version: strings.TrimPrefix(version, "HIP version: ")}
	h.Archs, err = h.chooseArchs(ctx, m.ROCm.Arch, getenv)
	return h, err
}

// Name is the compiler's version, its command and the architectures.
func (h *HIP) Name() string {
	return h.version + ", " + strings.Join(h.Words, " ") + ", for " + strings.Join(h.Archs, " and ")
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
func (h *HIP) chooseArchs(ctx context.Context, named []string, getenv func(string) string) ([]string, error) {
	named, err := namedArchs(named, getenv)
	if err != nil || len(named) > 0 {
		return named, err
	}
	var says error
	known := slices.DeleteFunc(slices.Clone(usualGFX), func(arch string) bool {
		words := append(h.Words[1:len(h.Words):len(h.Words)], "-x", "hip", "--offload-arch="+arch, "-c", "-o", os.DevNull, os.DevNull)
		out, err := exec.CommandContext(ctx, h.Words[0], words...).CombinedOutput()
		if err != nil {
			says = fmt.Errorf("%w\n%s", err, out)
		}
		return err != nil
	})
	if len(known) == 0 {
		return nil, &pyenv.MissingError{Text: fmt.Sprintf("%s compiles for none of %s: %v", h.Words[0], strings.Join(usualGFX, ", "), says)}
	}
	return known, nil
}

// EmulatedArchs are the architectures for which an emulated device stands: those that are named, else the usual ones.
func EmulatedArchs(named []string, getenv func(string) string) ([]string, error) {
	named, err := namedArchs(named, getenv)
	if err == nil && len(named) == 0 {
		named = usualGFX
	}
	return named, err
}

// Wave is the number of threads that run together on the architectures.
func Wave(archs []string) int {
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
