// Package names decides how ops, their arguments and collections may be called: which forms names have, and which names are
// taken by Python, C++, the frameworks or generated code.
package names

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/opcast/opcast/internal/language/dtype"
	"github.com/opcast/opcast/internal/language/framework"
	"github.com/opcast/opcast/internal/language/opdef/code"
)

// MaxLength is the length of the longest name; torch and XLA refuse much longer ones.
const MaxLength = 64

// SnakeHint says how the name of an op or a collection is written.
const SnakeHint = "lower-case words joined by single underscores"

var (
	// A name holds no double, leading or trailing underscore: C++ and generated code keep those.
	namePattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$`)
	// Generated files name their definition, in comments of every language and in links.
	folderPattern = regexp.MustCompile(`^[\pL\pN_.-]+$`)
	snakePattern  = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

const (
	usedByCode     = "used by generated code"
	takenByPackage = "taken by another package"
	pythonKeyword  = "a Python keyword"
	pythonKeywords = `False None True and as assert async await break class continue def del elif else except finally for from
	global if import in is lambda match nonlocal not or pass raise return try while with yield case`
)

// reserved says why a name is taken. Names of dtypes, and those that the code for a framework uses, are reserved too.
var reserved = reservedNames([][2]string{
	{pythonKeyword, pythonKeywords},
	{"a Python builtin that generated code uses", `abs all any bool bytes callable dict enumerate filter float format frozenset getattr
		hasattr hash id int isinstance issubclass iter len list map max min next object open ord pow print property range repr
		reversed round set setattr slice sorted str sum super tuple type vars zip`},
	{"a C++ keyword", `alignas alignof and_eq asm auto bitand bitor catch char char8_t char16_t char32_t compl concept const constexpr const_cast
		co_await co_return co_yield consteval constinit decltype default delete do double dynamic_cast enum explicit export extern false final friend goto inline long mutable namespace
		new noexcept not_eq nullptr operator or_eq override private protected public register reinterpret_cast requires short signed
		sizeof static static_assert static_cast struct switch template this thread_local throw true typedef typeid typename
		union unsigned using virtual void volatile wchar_t xor xor_eq`},
	{"a framework's own argument", "input out self cls args kwargs device stream requires_grad"},
	{"a function of expressions", "aligned ceildiv is_pow2"},
	{"a parameter of references", "xp"},
	{"a field of every argument struct", "batch"},
	{"a C++ type that generated code uses", "DLTensor int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"},
})

// reservedOps are the names of a package that are no op.
var reservedOps = reservedNames([][2]string{
	{"part of every package", "layers ops extra kernels use_kernel"}, {"the page that lists the ops", "index"},
	{"a generated file", "dtypes register_all"}, {"a Python keyword as a class", "none"},
})

// takenCollections are names whose packages, libraries or torch.ops namespace exist or cannot be written, beside those of
// the frameworks.
var takenCollections = reservedNames([][2]string{
	{pythonKeyword, pythonKeywords},
	{takenByPackage, "tvm_ffi std"},
	{"the beginning of environment variables of other programs", `asan blis ccache cmake cublas cuda cudnn cufft curand cusolver
		cusparse cutlass dyld git glibc gomp gpu hip hsa kmp ld lsan malloc miopen mkl msan nccl ninja npy nsys numba numexpr nvidia nvcc
		nvrtc nvshmem omp ompi openblas path pip pmi pmix python rayon rccl rocblas rocm roctracer sanitizer slurm tbb tf triton tsan
		tvm ubsan ucx uv veclib xdg`},
})

// IsIdentifier says whether an argument, a dtype variable or a size may have the name, as far as its form goes.
func IsIdentifier(name string) bool { return namePattern.MatchString(name) && len(name) <= MaxLength }

// FormHint says how to write a word that is no identifier: what is wrong with its first character, or else the given hint.
func FormHint(word, otherwise string) string {
	if first := strings.ToLower(word)[:min(len(word), 1)]; first != "" && (first < "a" || first > "z") {
		return "the first character must be a letter"
	}
	return otherwise
}

// IsSnakeCase says whether a word is made of lower-case words joined by single underscores.
func IsSnakeCase(word string) bool { return snakePattern.MatchString(word) }

// IsFolder says whether a folder of definitions may have the name.
func IsFolder(name string) bool { return folderPattern.MatchString(name) }

func reservedNames(groups [][2]string) map[string]string {
	names := map[string]string{}
	for _, group := range groups {
		for word := range strings.FieldsSeq(group[1]) {
			names[word] = group[0]
		}
	}
	return names
}

// WhyReserved returns why no argument, size or op can have the name. It is empty for a name that is free.
func WhyReserved(name string) string {
	if _, ok := dtype.Lookup(name); ok {
		return "a dtype"
	}
	for _, fw := range framework.All() {
		if slices.Contains(fw.Reserved, name) {
			return usedByCode
		}
	}
	if IsMacro(name) {
		return "a macro of the headers that kernels include"
	}
	return reserved[name]
}

// whyNoOp returns why no op can have a name that arguments can have, or "".
func whyNoOp(name string) string {
	for _, fw := range framework.All() {
		if slices.Contains(fw.Functions, name) {
			return usedByCode
		}
	}
	return reservedOps[name]
}

// whyTaken returns why a collection cannot have a name, or "".
func whyTaken(name string) string {
	for _, fw := range framework.All() {
		if slices.Contains(fw.Packages, name) {
			return takenByPackage
		}
	}
	return takenCollections[name]
}

// Mistake is what is wrong with the name of an op or a collection.
type Mistake struct {
	// Code is that of the diagnostic.
	Code string
	// Text says what is wrong, Hint what to write instead.
	Text, Hint string
}

// CheckOp returns nil for a name that an op can have, and an error that says why not for any other.
func CheckOp(name string) error {
	if mistake := OpMistake(name); mistake != nil {
		return fmt.Errorf("%s (%s)", mistake.Text, mistake.Hint)
	}
	return nil
}

// OpMistake returns what is wrong with the name of an op. It is nil for a name that an op can have.
func OpMistake(name string) *Mistake {
	if !IsSnakeCase(name) || len(name) > MaxLength {
		return &Mistake{code.Name, fmt.Sprintf("%q is no op name", name), SnakeHint}
	}
	if why := cmp.Or(whyNoOp(name), WhyReserved(name), WhyNoClass(name)); why != "" {
		return &Mistake{code.Reserved, fmt.Sprintf("an op cannot be named %q: %s", name, why), "choose another name"}
	}
	return nil
}

// CheckCollection returns nil for a name that a collection can have, and an error that says why not for any other.
func CheckCollection(name string) error {
	if mistake := CollectionMistake(name); mistake != nil {
		return fmt.Errorf("%s (%s)", mistake.Text, mistake.Hint)
	}
	return nil
}

// CollectionMistake returns what is wrong with the name of a collection. It is nil for a name that a collection can have.
func CollectionMistake(name string) *Mistake {
	if !IsSnakeCase(name) || len(name) > MaxLength {
		return &Mistake{code.Name, fmt.Sprintf("%q is no collection name", name), SnakeHint}
	}
	if why := whyTaken(name); why != "" {
		return &Mistake{code.Reserved, fmt.Sprintf("a collection cannot be named %q: %s", name, why), "choose another name"}
	}
	return nil
}

// WhyNoClass returns why an op's or a kernel's name cannot become that of a C++ function or type, or "".
func WhyNoClass(name string) string {
	if IsMacro(Pascal(name)) {
		return "in C++ it is " + Pascal(name) + ", a macro of the headers that kernels include"
	}
	return ""
}

// Pascal turns snake_case into PascalCase, as the generated C++ does.
func Pascal(name string) string {
	var b strings.Builder
	for _, part := range strings.Split(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// Invisible says whether a text may not hold a character: a control character, or one that nobody sees, such as those that
// change the direction of text. They go to comments, docstrings and pages, where they would show something else than what a
// compiler reads, and compilers refuse some of them.
func Invisible(r rune) bool {
	switch r {
	case '\n', '\r', '\t':
		return false
	case '\u200c', '\u200d': // joiners, which words of Persian and pictures of several characters need
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// macroText lists the macros of the C++ headers that the runtime and kernels include, as far as a definition could use their names.
// TestMacros compares it with a compiler.
//
//go:embed macros.txt
var macroText string

var macros = strings.Fields(macroText)

// macroPrefixes begin the names of macros of the runtime, and of the headers that generated code includes beside those.
var macroPrefixes = []string{"OPCAST_", "TVM_FFI_", "DLPACK_"}

// IsMacro says whether the preprocessor could replace a name: a macro with parameters is replaced where a parenthesis follows, as
// in the initializer of a member, `offsetof(args.offsetof)`.
func IsMacro(name string) bool {
	_, found := slices.BinarySearch(macros, name)
	return found || slices.ContainsFunc(macroPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
