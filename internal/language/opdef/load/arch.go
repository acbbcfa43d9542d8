package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/feature"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
	"github.com/opcast/opcast/internal/language/opdef/tomldoc"
)

// An architecture of NVIDIA's GPUs is ">=90" or "90", one of AMD's "gfx942".
var (
	cudaArchPattern = regexp.MustCompile(`^(>=|<=|==|>|<)? ?([0-9]{2,3})[a-z]?$`)
	gfxPattern      = regexp.MustCompile(`^gfx[0-9a-f]{3,4}$`)
)

// eachWord visits a word, or each one of a list, with its place. What is no text is an empty word.
func eachWord(where string, value any, visit func(at string, v any, word string)) {
	list, isList := value.([]any)
	if !isList {
		list = []any{value}
	}
	for i, v := range list {
		at := where
		if isList {
			at = tomldoc.Element(where, i)
		}
		word, _ := v.(string)
		visit(at, v, word)
	}
}

// kernelDevices reads one device, or a list of those whose compilers take one source.
func (c *checker) kernelDevices(where string, value any) (devices []string) {
	eachWord(where, value, func(at string, v any, word string) {
		switch {
		case !slices.Contains(manifest.Devices, word):
			c.report(at, code.Kernel, "devices are "+diag.OneOf(manifest.Devices), "unknown device %s", tomldoc.Show(v))
		case slices.Contains(devices, word):
			c.report(at, code.Kernel, "", "%s is listed twice", word)
		case len(devices) > 0 && (word == "cpu" || devices[0] == "cpu"):
			c.report(at, code.Kernel, `a list names GPUs: ["cuda", "rocm"]`, "a function for the CPU and one for GPUs are two kernels")
		}
		devices = append(devices, word)
	})
	if len(devices) == 0 {
		c.report(where, code.Kernel, "devices are "+diag.OneOf(manifest.Devices), "device is empty")
	}
	return devices
}

// arch reads what a kernel asks of its device: features of the CPU, or the architecture of a GPU. Of AMD's there may be several.
func (c *checker) arch(where string, value any, k *opdef.Kernel) {
	if !c.doc.Given(where) {
		return
	}
	given := 0
	eachWord(where, value, func(at string, v any, word string) {
		given++
		switch gfx := gfxPattern.MatchString(word); {
		case k.On("cpu"):
			if _, known := feature.Lookup(word); !known {
				c.report(at, code.Kernel, feature.Hint(word), "%s is no feature of a CPU", tomldoc.Show(v))
			}
			k.Features = append(k.Features, word)
		case !gfx && !cudaArchPattern.MatchString(word):
			c.report(at, code.Kernel, `for example ">=90" or "gfx942"`, "%s is no architecture", tomldoc.Show(v))
		case gfx && !k.On("rocm"), !gfx && !k.On("cuda"):
			c.report(at, code.Kernel, "", "%s is no architecture of %s", tomldoc.Show(v), strings.Join(k.Devices, " or "))
		case gfx:
			k.GFX = append(k.GFX, word)
		case k.Arch != "":
			c.report(at, code.Kernel, `a bound, for example ">=90"`, "arch has two architectures of CUDA")
		default:
			k.Arch = word
		}
	})
	if given == 0 {
		c.report(where, code.Kernel, "leave it out for all", "arch is empty")
	}
}
