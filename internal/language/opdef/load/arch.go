package load

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/code"
	"github.com/opcast/opcast/internal/language/opdef/expr"
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

// compilers reads which compilers take a kernel's file: one for each of its devices, and the C++ compiler for emulated ones.
func (c *checker) compilers(where string, words, devices []string) []string {
	if !c.doc.Given(where) {
		return nil
	}
	if slices.Contains(devices, "cpu") {
		c.diags.Add(c.doc.KeyAt(where), code.Compilers, "leave it out", "compilers: a kernel for the CPU is compiled by the C++ compiler")
		return nil
	}
	for i, word := range words {
		at := tomldoc.Element(where, i)
		switch {
		case c.doc.Tainted(at):
		case !slices.Contains(opdef.Compilers, word):
			c.report(at, code.Compilers, "compilers are "+diag.OneOf(opdef.Compilers), "unknown compiler %q", word)
		case slices.Contains(words[:i], word):
			c.report(at, code.Compilers, "", "%s is listed twice", word)
		case word != opdef.CXX && !slices.ContainsFunc(devices, func(d string) bool { return opdef.CompilerFor(d) == word }):
			c.report(at, code.Compilers, "", "%s compiles nothing for %s", word, strings.Join(devices, " or "))
		}
	}
	for _, device := range devices {
		if compiler := opdef.CompilerFor(device); compiler != "" && !slices.Contains(words, compiler) && !c.doc.Tainted(where) {
			c.report(where, code.Compilers, `add "`+compiler+`"`, "none of the compilers makes the kernel for %s", device)
		}
	}
	return words
}

// breaks reads along which of the op's parallel dims a kernel keeps the promise, and returns the others.
func (c *checker) breaks(where string, kept []string) []string {
	if !c.doc.Given(where) {
		return nil
	}
	promised := c.op.SplitDims()
	for i, dim := range kept {
		at := tomldoc.Element(where, i)
		switch {
		case c.doc.Tainted(at):
		case slices.Contains(kept[:i], dim):
			c.report(at, code.Parallel, "", "%s is listed twice", dim)
		case !slices.Contains(promised, dim) && !c.open:
			c.report(at, code.Parallel, diag.DidYouMean(dim, promised, "a kernel can keep what the op promises"), "the op has no parallel dim %q", dim)
		}
	}
	return slices.DeleteFunc(promised, func(dim string) bool { return slices.Contains(kept, dim) })
}

// emulatedCoverage looks for dtypes that kernels take on a GPU, of which none is compiled for the emulated one.
func (c *checker) emulatedCoverage() {
	for _, device := range []string{"cuda", "rocm"} {
		missing := c.combinationsWhere(func(dtypes map[string]string) bool {
			takes := func(k opdef.Kernel) bool { return k.On(device) && k.Accepts(dtypes, nil) != expr.KnownFalse }
			emulated := func(k opdef.Kernel) bool { return takes(k) && k.TakenBy(opdef.CXX) }
			return slices.ContainsFunc(c.op.Kernels, takes) && !slices.ContainsFunc(c.op.Kernels, emulated)
		})
		i := slices.IndexFunc(c.op.Kernels, func(k opdef.Kernel) bool { return k.On(device) && !k.TakenBy(opdef.CXX) })
		if len(missing) > 0 {
			c.diags.Add(c.doc.KeyAt(tomldoc.Join(tomldoc.Element("kernels", i), "compilers")), code.Uncovered,
				`add a kernel that the C++ compiler takes, or "c++" to compilers`, "no kernel for %s is emulated that takes %s", device, cmp.Or(missing[0], "a call"))
		}
	}
}
