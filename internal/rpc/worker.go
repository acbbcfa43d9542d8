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
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
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
}

// Error says what happened, with the last lines of the process.
func (e *CrashError) Error() string {
	if e.Stderr == "" {
		return "worker stopped: " + e.Reason
	}
	return "worker stopped: " + e.Reason + "\n" + e.Stderr
}

// Worker is one process at a time. Its methods may be called from several goroutines; calls are answered one by one.
type Worker struct {
	config Config
	mu     sync.Mutex
	now    *process
	// greeting is the first frame of the last process.
	greeting Message
	starts   int
}

// New returns a worker that is not started yet.
func New(config Config) *Worker { return &Worker{config: config} }

// Start runs the process, unless it runs already, and returns its greeting.
func (w *Worker) Start(ctx context.Context) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.greeting, w.ensure(ctx)
}

// Starts is the number of processes that this worker has used.
func (w *Worker) Starts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// Call sends a request and waits for the answer. After a *CrashError the worker remains usable.
func (w *Worker) Call(ctx context.Context, header any, blobs [][]byte) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ensure(ctx); err != nil {
		return Message{}, err
	}
	frame, err := encodeHeader(header, blobs)
	if err != nil {
		return Message{}, err
	}
	return w.exchange(ctx, w.config.CallDeadline, func(p *process) error { return p.send(frame, blobs) })
}

// Close ends the process.
func (w *Worker) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.now == nil {
		return nil
	}
	p := w.now
	w.now = nil
	return p.close()
}

func (w *Worker) ensure(ctx context.Context) error {
	if w.now != nil {
		return nil
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
	reason := ""
	for reason == "" {
		select {
		case got := <-answers:
			if got.err == nil {
				return got.message, nil
			}
			reason = p.wait(got.err)
		case <-watch.C:
			reason = p.stop(p.overMemoryLimit(w.config.Memory))
		case <-timer.C:
			reason = p.stop(fmt.Sprintf("no answer within %v", limit))
		case <-ctx.Done():
			reason = p.stop(context.Cause(ctx).Error())
		}
	}
	w.now = nil
	return Message{}, &CrashError{Reason: reason, Stderr: p.stderr.String()}
}

// process is one run of the command.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	stderr *tail
}

func start(config Config) (*process, error) {
	cmd := exec.Command(config.Command[0], config.Command[1:]...)
	cmd.Dir, cmd.Env = config.Dir, config.Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that its children end with it
	cmd.WaitDelay = time.Second
	p := &process{cmd: cmd, stderr: &tail{limit: 16 << 10}}
	cmd.Stderr = p.stderr
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("worker stdin: %w", err)
	}
	if p.out, err = cmd.StdoutPipe(); err != nil {
		return nil, fmt.Errorf("worker stdout: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start worker: %w", err)
	}
	return p, nil
}

func (p *process) send(header []byte, blobs [][]byte) error {
	for _, part := range append([][]byte{header}, blobs...) {
		if _, err := p.in.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// wait reaps a process that answered wrongly or not at all, and says why there is no answer.
func (p *process) wait(cause error) string {
	if !errors.Is(cause, io.EOF) && !errors.Is(cause, io.ErrUnexpectedEOF) {
		p.kill()
		return cause.Error()
	}
	timer := time.AfterFunc(5*time.Second, p.terminate) // it closed its pipe but lives on
	defer timer.Stop()
	if err := p.cmd.Wait(); err != nil {
		return err.Error()
	}
	return cause.Error()
}

// watchInterval is how often the memory of a busy process is looked at.
const watchInterval = 200 * time.Millisecond

// stop ends the process for a reason, with its stacks on stderr; it does nothing without one.
func (p *process) stop(reason string) string {
	if reason != "" {
		p.dumpStacks()
		p.kill()
	}
	return reason
}

// overMemoryLimit says that the process has more physical memory than it may; nothing where nobody can tell.
func (p *process) overMemoryLimit(limit int64) string {
	if limit == 0 {
		return ""
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 2 {
		return ""
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if has := pages * int64(os.Getpagesize()); err == nil && has > limit {
		return fmt.Sprintf("the process has %d MiB of memory, at most %d are allowed", has>>20, limit>>20)
	}
	return ""
}

// dumpStacks asks faulthandler, which the worker registered for SIGUSR1, for the Python stacks.
func (p *process) dumpStacks() {
	if p.cmd.Process.Signal(syscall.SIGUSR1) == nil {
		time.Sleep(300 * time.Millisecond)
	}
}

// terminate ends the process and its children; it may have ended by itself.
func (p *process) terminate() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

func (p *process) kill() {
	p.terminate()
	_ = p.cmd.Wait() // its status is that of our signal
}

// exitDeadline is for interpreters with torch and its own children: seconds, on a busy machine a minute.
const exitDeadline = 2 * time.Minute

// close ends the input and waits for the process to exit by itself.
func (p *process) close() error {
	timer := time.AfterFunc(exitDeadline, func() { p.dumpStacks(); p.terminate() })
	defer timer.Stop()
	if err := p.in.Close(); err != nil {
		return fmt.Errorf("close worker: %w", err)
	}
	if err := p.cmd.Wait(); err != nil {
		return &CrashError{Reason: err.Error() + " at exit", Stderr: p.stderr.String()}
	}
	return nil
}
