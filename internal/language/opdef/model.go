// Package opdef is the model of a project's op definitions: what every emitter and the conformance suite read.
//
// It is immutable once package load, below, has read and checked the TOML files that it comes from; nothing else parses
// a definition. The other packages below this one know one thing each: expr the language of sizes and conditions, tomldoc
// how TOML is read with the place of every value, names what may be called how, manifest the file opcast.toml, projectfs
// which files a project has, derivative which arguments fit those of a derivative, layer for which modules ops may stand,
// feature what a CPU may have, and code the codes of diagnostics.
package opdef

import (
	"path/filepath"
	"strings"

	"github.com/opcast/opcast/internal/language/diag"
	"github.com/opcast/opcast/internal/language/opdef/expr"
	"github.com/opcast/opcast/internal/language/opdef/manifest"
)

// Project is a manifest and its ops, sorted by name.
type Project struct {
	// Dir is the absolute folder of opcast.toml.
	Dir      string
	Manifest manifest.Manifest
	// ManifestText is the file from which Manifest was read.
	ManifestText []byte
	Ops          []*Op
	// Measured is what MeasuredFile holds, a result of opcast bench that the pages of ops show; nil if there is none. NotMeasured is
	// why it cannot be read.
	Measured    []byte
	NotMeasured error
	// Tuned are the parameters of kernels that were measured, one file for each architecture, in the order of these.
	Tuned []Tuned
	// Installed is where the packages of the collection are installed that stand for those in Dir; nil for these.
	Installed *Installed
}

// MeasuredFile is where a project keeps the result of opcast bench that its pages of ops show.
const MeasuredFile = "bench/measured.json"

// Installed are packages in an environment: the folder that Python imports them from, and the library that they load.
type Installed struct{ Site, Library string }

// LibraryPath is where `opcast build` puts the collection's library, or the installed one.
func (p *Project) LibraryPath() string {
	if p.Installed != nil {
		return p.Installed.Library
	}
	return filepath.Join(p.Dir, filepath.FromSlash(p.BackendFolder()), "lib", "lib"+p.Manifest.Name+".so")
}

// BackendFolder is that of the backend's Python package, relative to Dir and with slashes.
func (p *Project) BackendFolder() string { return "backend/python/src/" + p.Manifest.Name + "_backend" }

// GeneratedModule is the file of a generated module of that package.
func (p *Project) GeneratedModule(name string) string {
	return p.BackendFolder() + "/_gen/" + name + ".py"
}

// ImportFolders are the folders from which Python imports the packages of the collection: that of the backend, and those of
// adaptors. There are none for installed packages, which Python finds without being told.
func (p *Project) ImportFolders(adaptors ...string) []string {
	if p.Installed != nil {
		return []string{}
	}
	folders := []string{filepath.Join(p.Dir, "backend", "python", "src")}
	for _, name := range adaptors {
		folders = append(folders, filepath.Join(p.Dir, "adaptors", name, "src"))
	}
	return folders
}

// HandlerFolder is where the libraries lie through which a framework calls the ops; few frameworks have one.
func (p *Project) HandlerFolder(adaptor string) string {
	folder := filepath.Join(p.Dir, "adaptors", adaptor, "src")
	if p.Installed != nil {
		folder = p.Installed.Site
	}
	return filepath.Join(folder, p.Manifest.Name+"_"+adaptor, "lib")
}

// Op is one definition.
type Op struct {
	Name string
	// File is the definition's path relative to the project, with slashes; Family is its folder below opdefs/.
	File, Family string
	Doc          string
	Kind         int
	// DTypes are the dtype variables in the order in which the arguments mention them.
	DTypes   []DTypeVar
	Inputs   []Arg
	Attrs    []Attr
	Outputs  []Arg
	Lets     []Let
	Requires []*expr.Expr
	Scratch  []Arg
	Parallel []string
	Sums     []string
	// Reference is the body of f(inputs..., attrs..., lets...) over float64 arrays. ReferenceModule is the text of a
	// neighbouring <op>.py instead; exactly one of the two is set.
	Reference, ReferenceModule string
	// ReferenceFile holds the reference: the definition, or a file beside it. Formula is what pages show of a module, all if it is empty.
	ReferenceFile, Formula string
	// Module is the whole text of the neighbouring <op>.py, empty if there is none: beside a reference it may define
	// samples, independent, properties and peers.
	Module  string
	Samples map[string][]any
	// Workloads are calls of real models, and Flops how many operations a call needs; nil where nobody says.
	Workloads     []Workload
	Flops         *expr.Expr
	Tolerance     map[string]Tolerance
	Deterministic bool
	// Autocast is one of Autocasts, or empty for the first.
	Autocast string
	// Backward names the gradient op, which Gradient points to. GradientOf is the op whose gradient this one is.
	// Both are nil where there is none, and set once, when the definitions are loaded.
	Backward             string
	Gradient, GradientOf *Op
	// Forward names the op of tangents, which Tangent points to. TangentOf is the op whose tangents this one gives.
	Forward            string
	Tangent, TangentOf *Op
	// NoGrad names inputs of floating point by which the op has no derivative.
	NoGrad []string
	// Order are the parameters that Python's callers give by their place; empty for the inputs.
	Order             []string
	Since, Deprecated string
	Kernels           []Kernel
	// Layers are the modules of frameworks that call the op.
	Layers []Layer
	// Devices are the manifest's devices.
	Devices []string
	// Steps is the binding rule applied to the inputs, in order.
	Steps []Step
	// InstanceOf is the op of which this one is an instance: see Op.Instance.
	InstanceOf *Op
	// PerElement are the sizes that differ from one array of a list to the next.
	PerElement []string
	// Pos maps a key path ("inputs[1].type") to its place in the file.
	Pos map[string]diag.Pos
}

// DTypeVar is a dtype variable and the short names of the dtypes that it may be.
type DTypeVar struct {
	Name  string
	OneOf []string
}

// Arg is an input, output or scratch tensor.
type Arg struct {
	Name, Doc string
	Type      Type
	Optional  bool
	Mutated   bool
	// List says that the argument is a list of arrays. An output that is one has as many as the input that Per names.
	List   bool
	Per    string
	Saved  bool
	Zeroed bool
	// Stride is "" (dense), "last" or "any".
	Stride string
	// Min and Max are the range of the contents, nil where the definition is silent; what the op writes keeps to it. Sorted
	// describes an input.
	Min, Max *expr.Expr
	Sorted   bool
	// Unchecked says that only debugging looks at them.
	Unchecked bool
	// PresentIf names what an output's existence depends on: an optional input, or an attribute of type bool.
	PresentIf string
	// In names the list of which this is array number At, in the instance of an op; "" elsewhere. Own says that its leading
	// dims are those of the arrays number At only.
	In  string
	At  int
	Own bool
	// Valid names the output whose only element counts the rows of this one that mean anything.
	Valid string
	LSE   *LSE
	// Packs is the short name of the dtype of which each element holds several numbers, the first in its lowest bits; "" where an
	// element is a number. Type and shapes are those of the array, and references have the numbers, more along the last dim.
	Packs string
}

// LSE is the convention of a log-sum-exp: the base of the exponentials, and what it is for rows without elements.
type LSE struct{ Base, Empty string }

// String is the convention in words; "" for what is no log-sum-exp.
func (l *LSE) String() string {
	if l == nil {
		return ""
	}
	return "A log-sum-exp to base " + l.Base + ", " + l.Empty + " for rows without elements."
}

// Type is the parsed form of "T[*, 2*D]".
type Type struct {
	Text string
	// Var is the dtype variable, or empty where DType is a fixed short name.
	Var, DType string
	Dims       []Dim
}

// Dim is one entry of a type: Star ("*"), Ellipsis ("...") or an expression.
type Dim struct {
	Star, Ellipsis bool
	Expr           *expr.Expr
}

// Attr is a keyword argument that is not a tensor.
type Attr struct {
	Name, Doc string
	// Type is one of "int", "float", "bool", "str", "dtype", "int[]" and "int[N]".
	Type string
	// Len is N for "int[N]", -1 for "int[]".
	Len int
	// HasDefault says that Default (int64, float64, bool, string, []int64) or DefaultExpr is set, or that the attribute
	// is Optional: then it has no value in a call that leaves it out.
	HasDefault, Optional bool
	Default              any
	// DefaultExpr is a default computed from sizes by the backend.
	DefaultExpr *expr.Expr
	// Min and Max are int64 or float64, nil where absent.
	Min, Max any
	// OneOf are the words that a "str" may be, Among the numbers that an "int" may be; none for any.
	OneOf []string
	Among []int64
	// Binds is the dtype variable that a "dtype" attr sets.
	Binds string
}

// Let is a named size.
type Let struct {
	Name string
	Expr *expr.Expr
}

// Tolerance overrides the derived tolerance of one dtype.
type Tolerance struct{ RTol, ATol float64 }

// Kernel is one variant of an op.
type Kernel struct {
	Name string
	// Devices are those that it is for: one, or those of GPUs whose compilers take one source.
	Devices []string
	// Arch is the architecture that it asks of NVIDIA's GPUs, ">=90"; GFX are those of AMD's that it is for, or none for all.
	Arch string
	GFX  []string
	// Features are what a kernel for the CPU asks of it, as the author names them.
	Features []string
	// DTypes narrows dtype variables to the listed short names.
	DTypes map[string][]string
	When   *expr.Expr
	// Scratch says that the kernel takes the op's scratch; it is false where the op has none.
	Scratch bool
	// Supported and QueryWorkspace say that the author writes a predicate, and a function that tells how much of the
	// scratch a call uses.
	Supported, QueryWorkspace bool
	// Params are numbers of the kernel that nothing but its speed and its rounding depends on.
	Params []Param
	// Compilers are those that take the kernel's file, which then holds no other kernel; none stands for all.
	Compilers []string
	// Breaks are the parallel dims of the op along which this kernel gives parts other bits than the whole.
	Breaks []string
}

// StepKind says what a Step does.
type StepKind int

// The kinds of Step.
const (
	// BindBatch sets the leading dims ("*") from this input; CheckBatch compares with them. With "..." every input has
	// a BindBatch: their leading dims are broadcast together.
	BindBatch StepKind = iota
	CheckBatch
	// BindSize solves Coef*Symbol + Const == size of the dim; CheckSize compares the size with Expr. In both, Expr is
	// the whole dim with let names replaced by their meaning (its Text is still the author's).
	BindSize
	CheckSize
)

// Step is one application of the binding rule. Steps appear in the order in which they are checked: those of required
// inputs first, then those of each optional input, which are skipped when it is absent.
type Step struct {
	Kind StepKind
	// Input and Dim index Op.Inputs and Type.Dims.
	Input, Dim  int
	Symbol      string
	Coef, Const *expr.Expr
	Expr        *expr.Expr
	// Form is the dim as the author wrote it, or the side of it that the attributes choose.
	Form string
	// When is the condition on attributes under which the step is taken; nil for always.
	When *expr.Expr
}

// Defines says whether the Python file beside the definition defines a function.
func (o *Op) Defines(function string) bool {
	return strings.Contains("\n"+o.Module, "\ndef "+function+"(")
}
