// Package framework knows the frameworks for which adaptors are generated: what adaptor.toml in the folder of each one
// says. No other package lists them, so that a framework is added as a folder.
package framework

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/opcast/opcast/internal/language/tomlfmt"

	"github.com/opcast/opcast/adaptors"
)

// File is the name of the description in a framework's folder.
const File = "adaptor.toml"

// TVMFFI is what the package of every backend requires. Older ones do not hand the exception of a registered kernel to its caller.
const TVMFFI = "apache-tvm-ffi>=0.1.13,<0.2"

// Framework is what the tool has to know about a framework.
type Framework struct {
	// Name is the name of its folder, of its adaptor in opcast.toml and in paths; Title is its name in prose.
	Name  string `toml:"-"`
	Title string `toml:"title"`
	// Order is its place in lists. Default says that a project has its adaptor unless opcast.toml names some.
	Order   int  `toml:"order"`
	Default bool `toml:"default"`
	// Requires lists the distributions that its packages need besides the backend; Note explains what is not listed.
	Requires []string `toml:"requires"`
	Note     string   `toml:"note"`
	// Narrow is the setting without which its numbers have at most 32 bits; empty for frameworks that need none.
	Narrow string `toml:"narrow"`
	// Suite lists the distributions that only the conformance suite needs, to try what the framework does with them.
	Suite []string `toml:"suite"`
	// Pins are the versions of its distributions that the project is tested with.
	Pins map[string]string `toml:"pins"`
	// Packages are names that no collection can have; the first is the framework's own module, which its packages import before
	// the backend. Reserved are names that no op or argument can have, Functions such that no op can have.
	Packages  []string `toml:"packages"`
	Reserved  []string `toml:"reserved"`
	Functions []string `toml:"functions"`

	Python Python `toml:"python"`
	Stub   Stub   `toml:"stub"`
	Ops    Ops    `toml:"ops"`
	// Layers makes the ops as modules, Handlers the C++ that the framework calls; without a template there are none.
	Layers   Layers   `toml:"layers"`
	Handlers Handlers `toml:"handlers"`
	Hub      Hub      `toml:"hub"`
}

// Python says how the functions look.
type Python struct {
	// Array is the array type in docstrings, Hint in annotations, which Import brings into a module.
	Array  string `toml:"array"`
	Hint   string `toml:"hint"`
	Import string `toml:"import"`
	// Typed says that type checkers know the framework's arrays; Out says that results can go to given arrays.
	Typed bool `toml:"typed"`
	Out   bool `toml:"out"`
}

// Stub says how they look to type checkers: the types of arrays as arguments and as results, and of dtype attrs.
// "{dtype}" in the former two stands for the type of an element.
type Stub struct {
	Array   string   `toml:"array"`
	Result  string   `toml:"result"`
	DType   string   `toml:"dtype"`
	Imports []string `toml:"imports"`
}

// Ops says how the module of an op is made.
type Ops struct {
	// Template is rendered for each op, with one of the generator's views of ops. It is a path below adaptors/, as all
	// templates are: another framework's may serve, too.
	Template string `toml:"template"`
	View     string `toml:"view"`
	// Fast says that plain arrays go to the kernel at once; Views that dtypes which the framework does not know pass as
	// others of their width.
	Fast  bool `toml:"fast"`
	Views bool `toml:"views"`
}

// Layers is the template of the modules that call the ops, the framework's own modules that they can stand in for, and names
// that none of them can have, because generated code uses them.
type Layers struct {
	Template string   `toml:"template"`
	Modules  []string `toml:"modules"`
	Reserved []string `toml:"reserved"`
}

// Handlers says how the C++ is made through which a framework calls exports: a library in its package.
type Handlers struct {
	Template string `toml:"template"`
	// Package is the Python package with the framework's headers in its folder include; Distribution is what installs it, and
	// Needs are all distributions that a user installs for it.
	Package      string   `toml:"package"`
	Distribution string   `toml:"distribution"`
	Needs        []string `toml:"needs"`
	// Flags compile the sources. Libraries are those in the folder lib of the package with which they are linked, Symbols the
	// beginnings of the names that these libraries provide.
	Flags     []string `toml:"flags"`
	Libraries []string `toml:"libraries"`
	Symbols   []string `toml:"symbols"`
}

// Beside are the file names of the libraries with which the framework's own is linked.
func (h *Handlers) Beside() (names []string) {
	for _, library := range h.Libraries {
		names = append(names, "lib"+library+".so")
	}
	return names
}

// Hub says what the framework means to kernels of the Hugging Face Hub: the name by which its loader knows variants for the
// framework, and the template of a script that measures a kernel. Both may be empty.
type Hub struct {
	Variant   string `toml:"variant"`
	Benchmark string `toml:"benchmark"`
}

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// All are the frameworks, in their order. What they say is part of the program, so that a mistake in it is a panic; the
// tests of this package find it first.
var All = sync.OnceValue(func() []Framework {
	all, err := read(adaptors.FS)
	if err != nil {
		panic(err)
	}
	return all
})

// Names are the names of all frameworks.
func Names() []string { return names(All()) }

// Defaults are the names of those that a project has unless it says otherwise.
func Defaults() []string {
	return names(slices.DeleteFunc(slices.Clone(All()), func(f Framework) bool { return !f.Default }))
}

func names(list []Framework) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].Name
	}
	return out
}

// ByName returns a framework; false if there is none of that name.
func ByName(name string) (Framework, bool) {
	i := slices.IndexFunc(All(), func(f Framework) bool { return f.Name == name })
	if i < 0 {
		return Framework{}, false
	}
	return All()[i], true
}

// Owns reports whether a distribution is the framework's own: its name is that of the framework's first package or of one that
// is pinned, or begins with it and says for which device it is.
func (f *Framework) Owns(distribution string) bool {
	for _, own := range append(slices.Collect(maps.Keys(f.Pins)), f.Packages[0]) {
		if distribution == own || strings.HasPrefix(distribution, own+"-") {
			return true
		}
	}
	return false
}

// Worker holds the Python files with which the conformance suite calls the framework. False means that there are none.
func (f *Framework) Worker() (fs.FS, bool) {
	sub, err := fs.Sub(adaptors.FS, path.Join(f.Name, "opcast_worker"))
	if err != nil {
		return nil, false
	}
	_, err = fs.Stat(sub, ".")
	return sub, err == nil
}

// read reads the descriptions in all folders.
func read(folders fs.FS) ([]Framework, error) {
	files, err := fs.Glob(folders, "*/"+File)
	if err != nil {
		return nil, fmt.Errorf("list frameworks: %w", err)
	}
	var all []Framework
	for _, file := range files {
		f := Framework{Name: path.Dir(file)}
		text, err := fs.ReadFile(folders, file)
		if err != nil {
			return nil, fmt.Errorf("read framework: %w", err)
		}
		if err := tomlfmt.ReadStrictly(text, &f); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		f.Ops.Template = cmp.Or(f.Ops.Template, f.Name+"/templates/op.py.tmpl")
		if err := f.check(folders); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Framework) int { return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

// check looks for what is missing.
func (f *Framework) check(folders fs.FS) error {
	if !namePattern.MatchString(f.Name) {
		return fmt.Errorf("the folder %q is no name of a framework: expected lower-case words joined by underscores", f.Name)
	}
	for _, key := range [][2]string{
		{"title", f.Title}, {"python.array", f.Python.Array}, {"python.hint", f.Python.Hint}, {"python.import", f.Python.Import},
		{"stub.array", f.Stub.Array}, {"stub.result", f.Stub.Result}, {"stub.dtype", f.Stub.DType},
	} {
		if key[1] == "" {
			return fmt.Errorf("missing key %q", key[0])
		}
	}
	if len(f.Packages) == 0 {
		return errors.New(`missing key "packages"`)
	}
	if f.Order < 1 {
		return fmt.Errorf("order is %d, expected its place in lists, from 1", f.Order)
	}
	for _, name := range []string{f.Ops.Template, f.Layers.Template, f.Handlers.Template, f.Hub.Benchmark} {
		if _, err := fs.Stat(folders, name); name != "" && err != nil {
			return fmt.Errorf("there is no template %s", name)
		}
	}
	return nil
}

// Titles names frameworks in a sentence: "PyTorch, JAX and NumPy".
func Titles(names []string) string {
	var titles []string
	for _, name := range names {
		fw, _ := ByName(name)
		titles = append(titles, fw.Title)
	}
	if last := len(titles) - 1; last > 0 {
		return strings.Join(titles[:last], ", ") + " and " + titles[last]
	}
	return strings.Join(titles, "")
}
