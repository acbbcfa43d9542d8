// Package worker starts and asks the Python processes in which frameworks call ops.
//
// The Python files that all workers share are in this folder, too; what belongs to one framework is in its folder below
// adaptors/. Go and Python speak by frames of JSON and raw bytes (package rpc).
package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/system/rpc"
)

// Process is a caller in a worker process.
type Process struct {
	CallerName string
	Worker     *rpc.Worker
	// Limit is how long a plain call may take; zero stands for CallLimit.
	Limit time.Duration
	// ProgressPage is memory of the process that calls from Go, with the number of its present random call; nil for others.
	ProgressPage []byte
	calls.WorkerInfo
}

// Config is the worker's command-line argument.
type Config struct {
	Caller     string `json:"caller"`
	Adaptor    string `json:"adaptor"`
	Collection string `json:"collection"`
	// Namespace is the collection's name where frameworks register ops.
	Namespace string   `json:"namespace"`
	Paths     []string `json:"paths"`
	// SingleFramework says that the process has one framework, so that it must not need another one.
	SingleFramework bool    `json:"alone"`
	DTypes          []DType `json:"dtypes"`
	// Adaptors are the frameworks of a process that has several; Adaptor is empty there.
	Adaptors []string `json:"adaptors,omitempty"`
	// Device is the one under test.
	Device string `json:"device"`
	// Profile is that of the run, or a smaller one that has all checks through the process: it prepares for these.
	Profile string `json:"profile"`
	// CPUs, if not zero, is on how many CPUs the process may run.
	CPUs int `json:"cpus,omitempty"`
	// WarmUp is how many plain calls come before each check.
	WarmUp int `json:"warm_up,omitempty"`
	// Environ are variables that are set before anything is imported.
	Environ map[string]string `json:"environ,omitempty"`
	// Root is the folder of the project, whose definitions the oracle reads to tell lines.
	Root string `json:"root,omitempty"`
	// Library is one that was made by hand; Callables are functions by op that are tested in the place of a package.
	Library   string            `json:"library,omitempty"`
	Callables map[string]string `json:"callables,omitempty"`
}

// The deadlines of workers. One that starts may have to compile what it calls, as torch.utils.cpp_extension does, on a busy
// machine; where a check starts it, that check's own deadline comes first. A plain call computes one small result. What
// compiles, or makes many calls, gets LongCall times as long.
const (
	StartDeadline = 10 * time.Minute
	CallLimit     = 30 * time.Second
	LongCall      = 4
	CallDeadline  = LongCall * CallLimit
)

// Command says how to start a Python process that plays the caller; dir holds the worker's files.
func Command(python, dir string, config Config) (rpc.Config, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return rpc.Config{}, fmt.Errorf("worker config: %w", err)
	}
	return rpc.Config{
		// -B keeps caches out of the user's tree. The module path begins with dir, where the process starts.
		Command: []string{python, "-B", "-m", Package + ".main", string(text)}, Dir: dir,
		StartDeadline: StartDeadline, CallDeadline: CallDeadline, Memory: rpc.Allowance(),
	}, nil
}

// What checks ask a caller for by assertion, which would silently find nothing.
var (
	_ calls.Informed     = (*Process)(nil)
	_ calls.Transformer  = (*Process)(nil)
	_ calls.RandomCaller = (*Process)(nil)
)

// Start runs the process and reads who answers.
func (r *Process) Start(ctx context.Context) error {
	m, err := r.Worker.Start(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", r.CallerName, err)
	}
	if err := json.Unmarshal(m.Header, &r.WorkerInfo); err != nil {
		return fmt.Errorf("%s: greeting: %w", r.CallerName, err)
	}
	return nil
}

// Broken says why the process does not start any more; nil while it does.
func (r *Process) Broken() error {
	if r.Worker == nil {
		return nil
	}
	return r.Worker.Broken()
}

// Name is the name of the caller in reports.
func (r *Process) Name() string { return r.CallerName }

// ArrayWord is the framework's word for an array, as the worker says it.
func (r *Process) ArrayWord() string { return r.Word }

// Info is what the worker told when it started.
func (r *Process) Info() calls.WorkerInfo { return r.WorkerInfo }

// Probes are those of a group that the worker has.
func (r *Process) Probes(group string) []calls.Probe { return r.Groups[group] }

// Call sends the call in the form that the caller takes.
func (r *Process) Call(ctx context.Context, call *calls.Call) (*calls.Result, error) {
	request, blobs := calls.Pack(r.CallerName, call)
	send := r.Worker.Call
	if call.Probe == "" && (call.Mode == "" || call.Mode == "eager") {
		send = func(ctx context.Context, header any, blobs [][]byte) (rpc.Message, error) {
			return r.Worker.CallWithin(ctx, cmp.Or(r.Limit, CallLimit), header, blobs)
		}
	}
	m, err := send(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	return calls.ReadResult(m, call.Tensors())
}

// Describe asks for signature and documentation of an op.
func (r *Process) Describe(ctx context.Context, op *opdef.Op) (*calls.Description, error) {
	m, err := r.Worker.Call(ctx, map[string]any{"do": "describe", "op": op.Name}, nil)
	if err != nil {
		return nil, err
	}
	d := &calls.Description{}
	if err := json.Unmarshal(m.Header, d); err != nil {
		return nil, fmt.Errorf("read description: %w", err)
	}
	return d, nil
}

// Transform asks the worker.
func (r *Process) Transform(ctx context.Context, x *calls.Transformation) (*calls.Transformed, error) {
	request, blobs := calls.TransformRequest(x)
	m, err := r.Worker.Call(ctx, request, blobs)
	if err != nil {
		return nil, err
	}
	return calls.ReadTransformed(m)
}
