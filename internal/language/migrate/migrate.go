// Package migrate reads the bindings of an existing extension, or its functions on raw pointers, and drafts definitions of ops
// and kernels from them. It reads text, runs nothing of it, and says of everything that it does not understand where it stands.
//
// Each form has a reader of its own: torchlibrary, pybind, tvmffi and pointers. What they read are Functions; package files draft,
// shapes, toml and kernel make Drafts of them.
package migrate

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/opcast/opcast/internal/language/opdef/names"
)

// MaxSize is the size of the largest file that is read, in bytes.
const MaxSize = 1 << 20

// Source is a file of the extension. Its name is relative to the project and has slashes.
type Source struct{ Name, Text string }

// Note says what could not be read, or what a person has to decide, and where.
type Note struct {
	File string
	Line int
	Text string
}

// String is the note as compilers print theirs.
func (n Note) String() string { return fmt.Sprintf("%s:%d: %s", n.File, n.Line, n.Text) }

// Kind says what a parameter is.
type Kind int

// The kinds of parameters.
const (
	Other Kind = iota
	Array
	List
	Int
	Float
	Bool
	Str
	DType
	Ints
	Stream
)

// Param is a parameter or a result as an extension declares it.
type Param struct {
	Name string
	Kind Kind
	// Type is what the author wrote.
	Type string
	// Elem is the element of a pointer: the short name of a dtype, the name of a parameter of the template, or "" for void.
	Elem string
	// Pointer says that the array is a raw pointer.
	Pointer  bool
	Optional bool
	// Written says that the function may write the array, Const that it cannot.
	Written, Const bool
	// sure says that Written is known, and no guess; read that the function reads the array, too.
	sure, read bool
	// alias says that the sources declare the name of the element.
	alias bool
	// Len is N of int[N], 0 for any number.
	Len int
	// Default is the default as it is written, "" if there is none.
	Default string
	// quoted says that the default stands in quotes, and whole that text is what they hold.
	quoted, whole bool
	text          string
}

// setDefault takes the default as it is written.
func (p *Param) setDefault(tokens []token) {
	p.Default, p.text = joined(tokens), ""
	p.quoted = len(tokens) > 0 && !slices.ContainsFunc(tokens, func(t token) bool { return !t.quoted })
	p.whole = p.quoted
	for _, t := range tokens {
		p.whole = p.whole && !t.escaped && utf8.ValidString(t.text) && !strings.ContainsFunc(t.text, func(r rune) bool { return unicode.IsControl(r) || names.Invisible(r) })
		p.text += t.text
	}
}

// Function is what an extension says of one function.
type Function struct {
	// Name is that under which it is registered, or its own.
	Name string
	File string
	Line int
	Doc  string
	// Params are in the order of the call, Results what is returned.
	Params, Results []Param
	// Device is "cuda" or "rocm" if the function is known to be for GPUs, else "cpu".
	Device string
	// Written is the declaration, or the schema, on one line.
	Written string
	// C is the function in C++, if it takes raw pointers and its declaration was found.
	C *cFunction
}

// OpName is the name of the op that the function becomes.
func (f *Function) OpName() string { return opName(f.Name) }

// arrays is how many arrays the function takes and gives.
func (f *Function) arrays() (n int) {
	for _, p := range append(slices.Clone(f.Params), f.Results...) {
		n += boolInt(p.Kind == Array || p.Kind == List)
	}
	return n
}

// reader collects what is read of all sources.
type reader struct {
	files     []*file
	functions []Function
	notes     []Note
	// declared are the functions that the sources declare, by name without namespaces.
	declared map[string][]*cFunction
	// inHeader are the names and shapes of functions that a header declares, first the first function of each file with them.
	inHeader map[string]bool
	first    map[string]*cFunction
	// instances are the arguments with which templates are instantiated explicitly, by name.
	instances map[string][]string
	// registered are the names of functions that some registration mentions.
	registered map[string]bool
	// devices are those for which functions are registered, by name in the order of the sources.
	devices map[string][]string
	// lost are functions of which only a part is read, which is told unless another part is.
	lost []lostFunction
	// macros are those that are noted, behind the name of their file.
	macros map[string]bool
	// binding are the macros that register functions, module is the file whose registrations are read.
	binding map[string][]*binding
	module  *file
	types   vocabulary
	uses    map[parameter]use
	// spelled is for how many tokens macros with parameters stood.
	spelled int
}

func newReader(own Vocabulary) *reader {
	return &reader{
		binding: map[string][]*binding{}, uses: map[parameter]use{}, types: newVocabulary(own),
		declared: map[string][]*cFunction{}, inHeader: map[string]bool{}, first: map[string]*cFunction{},
		instances: map[string][]string{}, registered: map[string]bool{}, macros: map[string]bool{},
		devices: map[string][]string{},
	}
}

// Read reads the sources. Functions are in the order of files and lines.
func Read(sources []Source, own Vocabulary) ([]Function, []Note) {
	r := newReader(own)
	for _, s := range sources {
		tokens, macros, torn := lexAll(s.Text)
		f := &file{Source: s, tokens: tokens}
		r.files = append(r.files, f)
		r.bindings(f, macros)
		for _, t := range torn {
			r.note(s.Name, t.line, "the %s that begins here does not end, and what stands behind it may not be read", t.what)
		}
		if i := unpaired(tokens); i >= 0 {
			r.noteAt(f, i, "the %s here has no counterpart, and what stands behind it may not be read", tokens[i].text)
		}
	}
	for range chained {
		for _, f := range r.files {
			r.aliases(f)
		}
	}
	for _, f := range r.files {
		r.declarations(f)
	}
	for _, f := range r.files {
		before := len(r.functions) + len(r.notes)
		r.module = f
		r.torchLibraries(f)
		r.pybind(f)
		r.tvmFFI(f)
		f.binds = f.binds || len(r.functions)+len(r.notes) > before
	}
	r.placed()
	for _, f := range r.files {
		r.pointers(f)
	}
	r.unique()
	r.tellLost()
	r.empty()
	slices.SortStableFunc(r.functions, func(a, b Function) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return r.functions, r.notes
}

// chained is through how many names that stand before what they name an alias is followed.
const chained = 3

// Sorted are the notes by file and line, each once.
func Sorted(notes []Note) []Note {
	slices.SortStableFunc(notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(notes)
}

// unique leaves one function for each op: one whose call is known before one that is only registered, else the first.
func (r *reader) unique() {
	best := map[string]int{}
	var kept []Function
	for _, f := range r.functions {
		i, taken := best[f.OpName()]
		switch {
		case !taken:
			best[f.OpName()] = len(kept)
			kept = append(kept, f)
		case kept[i].C == nil && f.C != nil && kept[i].arrays() == f.arrays():
			r.note(kept[i].File, kept[i].Line, "%s: drafted from %s:%d, whose call is known", kept[i].Name, f.File, f.Line)
			kept[i] = f
		default:
			r.note(f.File, f.Line, "%s: not read again: %s", f.Name, sameOp(&kept[i], &f))
		}
	}
	r.functions = kept
}

var deviceWords = regexp.MustCompile(`cpu|cuda|gpu|host`)

// sameOp says why one of two functions that would be one op is not drafted.
func sameOp(drafted, other *Function) string {
	is := fmt.Sprintf("%s:%d", drafted.File, drafted.Line)
	words := func(f *Function) []string { return deviceWords.FindAllString(strings.ToLower(f.Name), -1) }
	switch {
	case drafted.Device != other.Device || !slices.Equal(words(drafted), words(other)):
		return fmt.Sprintf("it and %s of %s seem to be kernels of one op for two devices, of which that is drafted: you add the other", drafted.Name, is)
	case drafted.Name == other.Name:
		return is + " has the same name; an overload for other dtypes is a dtype variable of one op"
	}
	return fmt.Sprintf("it would be the op %s, as %s of %s is: rename one of them", other.OpName(), drafted.Name, is)
}

// empty says of each file in which nothing was found what would have been.
func (r *reader) empty() {
	for _, f := range r.files {
		found := f.binds || slices.ContainsFunc(r.functions, func(fn Function) bool { return fn.File == f.Name }) ||
			slices.ContainsFunc(r.notes, func(n Note) bool { return n.File == f.Name }) || r.serves(f)
		if !found {
			r.note(f.Name, 1, "nothing found: no TORCH_LIBRARY, PYBIND11_MODULE or TVM_FFI_DLL_EXPORT_TYPED_FUNC, and no function on raw pointers")
		}
	}
}

// serves says whether a registration names a function that the file declares, or the file has the body of one that was read.
func (r *reader) serves(f *file) bool {
	if slices.ContainsFunc(r.functions, func(fn Function) bool {
		return fn.C != nil && slices.ContainsFunc(fn.C.others, func(c *cFunction) bool { return c.file == f })
	}) {
		return true
	}
	for name := range r.registered {
		if slices.ContainsFunc(r.declared[name], func(c *cFunction) bool { return c.file == f }) {
			return true
		}
	}
	return false
}

func (r *reader) note(file string, line int, format string, args ...any) {
	r.notes = append(r.notes, Note{file, line, fmt.Sprintf(format, args...)})
}

// noteAt notes something about the token at an index.
func (r *reader) noteAt(f *file, at int, format string, args ...any) {
	r.note(f.Name, f.line(at), format, args...)
}
