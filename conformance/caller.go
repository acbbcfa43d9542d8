package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/opcast/opcast/internal/opdef"
	"github.com/opcast/opcast/internal/rpc"
)

// greeting is a worker's first frame.
type greeting struct {
	Version, Missing, Word, Python string
	// TVM is the path of libtvm_ffi, Built the devices for which the library has kernels, and Driver says that the
	// machine has a CUDA device, Hardware what its maker calls the device under test: the bare backend tells.
	TVM      string
	Built    []string
	Driver   bool
	Hardware string
	// Abilities are what the framework can do; the bare callers do not tell.
	Abilities *abilities
	// Groups are the probes by group.
	Groups map[string][]Probe `json:"probes"`
}

// remote is a caller in a worker process.
type remote struct {
	name   string
	worker *rpc.Worker
	// reached is memory of the process that calls from Go, with the number of its present random call; nil for others.
	reached []byte
	greeting
}

// workerConfig is the worker's command-line argument.
type workerConfig struct {
	Caller     string   `json:"caller"`
	Adaptor    string   `json:"adaptor"`
	Collection string   `json:"collection"`
	Paths      []string `json:"paths"`
	// Alone says that the process has one framework, so that it must not need another one.
	Alone  bool              `json:"alone"`
	DTypes map[string]string `json:"dtypes"`
	// Device is the one under test.
	Device string `json:"device"`
	// Environ are variables that are set before anything is imported.
	Environ map[string]string `json:"environ,omitempty"`
	// Library is one that was made by hand; Callables are functions by op that are tested in the place of a package.
	Library   string            `json:"library,omitempty"`
	Callables map[string]string `json:"callables,omitempty"`
}

// The deadlines of workers: torch and jax need seconds to import, and a first call of JAX compiles.
const (
	startDeadline = 3 * time.Minute
	callDeadline  = 2 * time.Minute
)

// workerCommand says how to start a Python process that plays the caller; dir holds the worker's files.
func workerCommand(python, dir string, config workerConfig) (rpc.Config, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return rpc.Config{}, fmt.Errorf("worker config: %w", err)
	}
	return rpc.Config{
		// -B keeps caches out of the user's tree. The module path begins with dir, since the program is a file there.
		Command: []string{python, "-B", filepath.Join(dir, "main.py"), string(text)}, Dir: dir,
		StartDeadline: startDeadline, CallDeadline: callDeadline, Memory: rpc.Allowance(),
	}, nil
}

// start runs the process and reads who answers.
func (r *remote) start(ctx context.Context) error {
	m, err := r.worker.Start(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if err := json.Unmarshal(m.Header, &r.greeting); err != nil {
		return fmt.Errorf("%s: greeting: %w", r.name, err)
	}
	return nil
}

func (r *remote) Name() string                { return r.name }
func (r *remote) Word() string                { return r.greeting.Word }
func (r *remote) tells() greeting             { return r.greeting }
func (r *remote) Probes(group string) []Probe { return r.Groups[group] }

// pack puts a call into the form that the caller of this name takes.
func pack(name string, call *Call) (wireCall, [][]byte) {
	switch name {
	case backendName, nativeName:
		return backendCall(call)
	case opCallName:
		return opCall(call)
	}
	return publicCall(call)
}

// Call sends the call in the form that the caller takes.
func (r *remote) Call(ctx context.Context, call *Call) (*Result, error) {
	request, blobs := pack(r.name, call)
	m, err := r.worker.Call(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	return readResult(m, call.tensors())
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

// describer is a caller that can tell about its package.
type describer interface {
	Describe(ctx context.Context, op *opdef.Op) (*Description, error)
}

// Describe asks for signature and documentation of an op.
func (r *remote) Describe(ctx context.Context, op *opdef.Op) (*Description, error) {
	m, err := r.worker.Call(ctx, map[string]any{"do": "describe", "op": op.Name}, nil)
	if err != nil {
		return nil, err
	}
	d := &Description{}
	if err := json.Unmarshal(m.Header, d); err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	return d, nil
}

// crashText is the failure text of a call that ended the process.
func crashText(err error) (string, bool) {
	var crash *rpc.CrashError
	if errors.As(err, &crash) {
		return "the process died: " + crash.Error(), true
	}
	return "", false
}
