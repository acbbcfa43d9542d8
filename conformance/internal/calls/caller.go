package calls

import (
	"context"
	"fmt"

	"github.com/opcast/opcast/internal/language/opdef"
)

// WorkerInfo is a worker's first frame.
type WorkerInfo struct {
	Version, Missing, Word, Python string
	// TVM is the path of libtvm_ffi, Built the devices for which the library has kernels, and Driver says that the
	// machine has a GPU of their kind, Hardware what its maker calls the device under test: the bare backend tells.
	TVM      string
	Built    []string
	Driver   bool
	Hardware string
	// Abilities are what the framework can do; the bare callers do not tell.
	Abilities *Abilities
	// Groups are the probes by group.
	Groups map[string][]Probe `json:"probes"`
}

// Pack puts a call into the form that the caller of this name takes.
func Pack(name string, call *Call) (WireCall, [][]byte) {
	switch name {
	case BackendName, NativeName:
		return BackendCall(call)
	case OpCallName:
		return opCall(call)
	}
	return PublicCall(call)
}

// Parameter is one parameter of a public function.
type Parameter struct {
	Name     string
	Keyword  bool
	Required bool
	Default  map[string]any
}

// Description is what a package says about an op.
type Description struct {
	Parameters []Parameter
	Doc        string
	Public     []string
}

// Describer is a caller that can tell about its package.
type Describer interface {
	Describe(ctx context.Context, op *opdef.Op) (*Description, error)
}

// DefinitionName is the caller under which checks of the definition itself are reported.
const DefinitionName = "definition"

// Definition stands for no framework at all.
type Definition struct{}

// Name is the word that stands for no caller in reports.
func (Definition) Name() string { return DefinitionName }

// ArrayWord is empty: nobody calls through a definition.
func (Definition) ArrayWord() string { return "array" }

// Probes is empty: a definition has no worker.
func (Definition) Probes(string) []Probe { return nil }

// Call always fails: checks of definitions make no calls.
func (Definition) Call(context.Context, *Call) (*Result, error) {
	return nil, fmt.Errorf("a definition cannot be called")
}

// StubCaller is a caller that has only a name and abilities.
type StubCaller struct {
	Definition
	CallerName string
	Abilities  *Abilities
}

// Name is the name that the value was made with.
func (n StubCaller) Name() string { return n.CallerName }

// Info has the abilities, and nothing else.
func (n StubCaller) Info() WorkerInfo { return WorkerInfo{Abilities: n.Abilities} }
