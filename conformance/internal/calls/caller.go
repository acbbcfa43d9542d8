package calls

import (
	"context"
	"encoding/json"
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

// ConcurrentRequest is a request for calls at once; each has its blobs in one list.
type ConcurrentRequest struct {
	Do     string           `json:"do"`
	Calls  []ConcurrentCall `json:"calls"`
	Repeat int              `json:"repeat"`
}

// ConcurrentCall is one of the calls, with the numbers of its first blob and of the one after its last.
type ConcurrentCall struct {
	Call WireCall `json:"call"`
	From int      `json:"from"`
	To   int      `json:"to"`
}

// ConcurrentAnswers are the different answers of all threads, with the numbers of their blobs.
type ConcurrentAnswers struct {
	Answers []ThreadAnswer `json:"answers"`
}

// ThreadAnswer is one of the different results that a thread got, or the error that it met.
type ThreadAnswer struct {
	Thread int             `json:"thread"`
	Body   json.RawMessage `json:"body"`
	Blobs  int             `json:"blobs"`
}

// What requests ask for beside plain calls.
const (
	DoRandom  = "random"
	DoUsage   = "usage"
	DoThreads = "threads"
)

// Chainer calls two frameworks in one process.
type Chainer interface {
	// Frameworks are the adaptors that it can call.
	Frameworks() []string
	// Chain calls the op in the first framework, hands one of its results over through DLPack as an input of a second
	// call in the second framework, and returns that call's result and the addresses of the handed-over array on both
	// sides.
	Chain(ctx context.Context, call *Call, link ChainLink, first, second string) (result *Result, from, to uint64, err error)
}

// ChainLink says which result of a call, by its slot and by its place in a public result, becomes which input of the next.
type ChainLink struct{ Slot, Result, Feed int }
