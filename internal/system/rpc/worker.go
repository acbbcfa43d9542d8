// Package rpc keeps a Python process that answers calls over pipes.
//
// A message is a frame: the length of a JSON header as u64 (little-endian), the header, then raw blobs whose lengths the
// header lists. The process greets with one frame once it is ready, answers every request with one frame, and exits when
// its input ends. A crash, a missed deadline or too much memory costs the call that caused it: the next call starts a new
// process.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Config says how to start a worker.
type Config struct {
	// Command is the program and its arguments; Dir its working directory; Env its environment (nil: ours).
	Command []string
	Dir     string
	Env     []string
	// StartDeadline bounds the time until the greeting, CallDeadline that of one call.
	StartDeadline, CallDeadline time.Duration
	// Memory bounds the physical memory of the process during a call, in bytes; zero means no bound. Address space is free:
	// frameworks reserve much of it.
	Memory int64
	// Stacks says where the threads of a process are in native code, before it is ended because it hangs; nil for nothing.
	Stacks func(pid int) string
	// Attempts bounds how often in a row a process may end before it greets, when calls start it; zero means no bound.
	Attempts int
}

// Message is the content of a frame.
type Message struct {
	Header json.RawMessage
	Blobs  [][]byte
}

// CrashError reports a process that ended or hung during a call.
type CrashError struct {
	// Reason is "signal: segmentation fault", "exit status 3", "no answer within 30s", …
	Reason string
	// Stderr is the end of what the process wrote there; after a timeout it includes the Python stacks.
	Stderr string
	// Hung says that the process gave no answer in time; Stack is what Config.Stacks said then.
	Hung  bool
	Stack string
	// Unstarted says that no attempt to start the process lasted.
	Unstarted bool
	// ended says that the process ended by itself.
	ended bool
}

// Error says what happened, with the last lines of the process.
func (e *CrashError) Error() string {
	text := "worker stopped: " + e.Reason
	for _, more := range []string{e.Stack, e.Stderr} {
		if more != "" {
			text += "\n" + more
		}
	}
	return text
}

// Worker is one process at a time. Its methods may be called from several goroutines; calls are answered one by one.
type Worker struct {
	config Config
	mu     sync.Mutex
	now    *process
	// greeting is the first frame of the last process.
	greeting Message
	starts   int
	// broken is why no process starts any more; nil while it is worth a try.
	broken error
}

// New returns a worker that is not started yet.
func New(config Config) *Worker { return &Worker{config: config} }

// Start runs the process, unless it runs already, and returns its greeting.
func (w *Worker) Start(ctx context.Context) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = nil
	return w.greeting, w.ensure(ctx)
}

// Starts is the number of processes that this worker has used.
func (w *Worker) Starts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// Broken says why calls start no process any more; nil while they do.
func (w *Worker) Broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken
}

// Call sends a request and waits for the answer. After a *CrashError the worker remains usable, unless it is broken.
func (w *Worker) Call(ctx context.Context, header any, blobs [][]byte) (Message, error) {
	return w.CallWithin(ctx, w.config.CallDeadline, header, blobs)
}

// CallWithin is Call with a deadline of its own.
func (w *Worker) CallWithin(ctx context.Context, deadline time.Duration, header any, blobs [][]byte) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.revive(ctx); err != nil {
		return Message{}, err
	}
	frame, err := encodeHeader(header, blobs)
	if err != nil {
		return Message{}, err
	}
	return w.exchange(ctx, deadline, func(p *process) error { return p.send(frame, blobs) })
}

// Close ends the process.
func (w *Worker) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return nil
	}
	p := w.now
	w.now, w.broken = nil, nil
	return p.close()
}

// Kill ends the process at once.
func (w *Worker) Kill() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now != nil {
		w.now.kill()
		w.now = nil
	}
}

// revive starts a process where none runs. One that ends at once would do so for every call of a long run: after some
// attempts there are no others.
func (w *Worker) revive(ctx context.Context) error {
	if w.now == nil && w.broken != nil {
		return w.broken
	}
	for tried := 1; ; tried++ {
		err := w.ensure(ctx)
		var crash *CrashError
		if !errors.As(err, &crash) || !crash.ended || w.config.Attempts == 0 {
			return err
		}
		if tried == w.config.Attempts {
			crash.Reason = fmt.Sprintf("its process ended %d times in a row while it started, %s", tried, crash.Reason)
			crash.Unstarted = true
			w.broken = &CrashError{Reason: crash.Reason, Unstarted: true} // what it wrote is told once
			return crash
		}
	}
}

func (w *Worker) ensure(ctx context.Context) error {
	if w.now != nil {
		return nil
	}
	if ctx.Err() != nil {
		return &CrashError{Reason: context.Cause(ctx).Error()}
	}
	p, err := start(w.config)
	if err != nil {
		return err
	}
	w.now = p
	w.starts++
	w.greeting, err = w.exchange(ctx, w.config.StartDeadline, func(*process) error { return nil })
	return err
}

// exchange sends and receives under a deadline. Whatever goes wrong, the process is gone afterwards.
func (w *Worker) exchange(ctx context.Context, limit time.Duration, send func(*process) error) (Message, error) {
	p := w.now
	type answer struct {
		message Message
		err     error
	}
	answers := make(chan answer, 1)
	go func() {
		err := send(p)
		if err != nil {
			err = fmt.Errorf("send request: %w", err)
		}
		message, readErr := readFrame(p.out)
		answers <- answer{message, errors.Join(readErr, err)}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	crash := &CrashError{}
	for crash.Reason == "" {
		select {
		case got := <-answers:
			if got.err == nil {
				return got.message, nil
			}
			crash.Reason, crash.ended = p.wait(got.err), true
		case <-watch.C:
			crash.Reason = p.stop(p.overMemoryLimit(w.config.Memory))
		case <-timer.C:
			crash.Hung, crash.Stack = true, w.stacks(p)
			crash.Reason = p.stop(fmt.Sprintf("no answer within %v", limit))
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				crash.Hung, crash.Stack = true, w.stacks(p)
			}
			crash.Reason = p.abandon(ctx)
		}
	}
	w.now = nil
	crash.Stderr = p.stderr.String()
	return Message{}, crash
}

// stacks says where a process hangs in native code.
func (w *Worker) stacks(p *process) string {
	if w.config.Stacks == nil {
		return ""
	}
	return w.config.Stacks(p.cmd.Process.Pid)
}
