package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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
	// A group of its own, so that its children end with it, and that Ctrl-C in a terminal is told to us alone. It ends when
	// we are killed, even if it hangs; that holds as long as the thread lives which starts it, and threads of Go stay.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
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

// abandon ends the process because nobody waits for its answer any more. Where a deadline has passed, people want to know
// what took so long.
func (p *process) abandon(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return p.stop(context.Cause(ctx).Error())
	}
	p.kill()
	return context.Cause(ctx).Error()
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
	err := p.cmd.Wait()
	if errors.Is(err, exec.ErrWaitDelay) { // a child of its own, such as a resource tracker of Python's: the worker itself has ended well
		p.terminate()
		return nil
	}
	if err != nil {
		return &CrashError{Reason: err.Error() + " at exit", Stderr: p.stderr.String()}
	}
	return nil
}

// minMemory is what a worker may always have: frameworks need some of it before they compute anything.
const minMemory = 4 << 30

// Allowance is half of the memory that this machine or container has: what a worker may take before it counts as a runaway.
func Allowance() int64 {
	meminfo, _ := os.ReadFile("/proc/meminfo")            // empty where there is none
	cgroup, _ := os.ReadFile("/sys/fs/cgroup/memory.max") // "max" where there is no limit
	return allowance(string(meminfo), string(cgroup))
}

func allowance(meminfo, cgroup string) int64 {
	var have int64
	for line := range strings.Lines(meminfo) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "MemTotal:" {
			have = number(fields[1]) << 10
		}
	}
	if limit := number(strings.TrimSpace(cgroup)); limit > 0 && (have == 0 || limit < have) {
		have = limit
	}
	if have == 0 {
		return 0
	}
	return max(have/2, minMemory)
}

// number is zero for what is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
