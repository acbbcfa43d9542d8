package faultinject

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Tracer traces a command, if this process was started for that, and returns its own exit code.
func Tracer() (code int, traced bool) {
	text, tracer := os.LookupEnv(variable)
	_, traced = os.LookupEnv(tracedVariable)
	if !tracer && !traced {
		return 0, false
	}
	runtime.LockOSThread() // the kernel knows the tracer, and the filter, by the thread
	var err error
	if traced {
		err = become(os.Args[1], os.Args[2:])
	} else {
		err = trace(text, os.Args)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "inject faults:", err)
		return 1, true
	}
	return 0, true
}

// tracer is the loop over everything that the traced threads report.
type tracer struct {
	fault   Fault
	command int
	calls   []string
	hit     string
	// known are the threads.
	known map[int]bool
	// over says that the kill was: what lives on is left alone.
	over    bool
	reports *json.Encoder
}

const options = unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

// trace runs the words, which begin with the path of this program, as a traced process that becomes the command.
func trace(fault string, words []string) error {
	unix.CloseOnExec(3)
	t := &tracer{known: map[int]bool{}, reports: json.NewEncoder(os.NewFile(3, "reports"))}
	if err := json.Unmarshal([]byte(fault), &t.fault); err != nil {
		return err
	}
	// Whoever loses its parent becomes a child of this process, which can wait for it.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	pid, err := syscall.ForkExec(words[0], words, &syscall.ProcAttr{
		Env: append(without(os.Environ(), variable), tracedVariable+"=1"), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Ptrace: true},
	})
	if err != nil {
		return t.reports.Encode(answer{Refused: err.Error()})
	}
	t.command, t.known[pid] = pid, true
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return err
	}
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return errors.Join(t.reports.Encode(answer{Refused: err.Error()}), unix.Kill(pid, unix.SIGKILL))
	}
	_ = unix.PtraceCont(pid, 0)
	return t.loop()
}

func without(env []string, name string) (rest []string) {
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			rest = append(rest, e)
		}
	}
	return rest
}

// loop ends when no process is left.
func (t *tracer) loop() error {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return err
		case status.Stopped():
			_ = unix.PtraceCont(tid, t.stopped(tid, status)) // a thread that was killed cannot run on
		default:
			delete(t.known, tid)
			if tid == t.command {
				if err := t.reports.Encode(answer{Code: status.ExitStatus(), Calls: t.calls, Hit: t.hit}); err != nil {
					return err
				}
			}
		}
	}
}

// stopped handles a stop and returns the signal to deliver.
func (t *tracer) stopped(tid int, status unix.WaitStatus) (signal int) {
	first := !t.known[tid]
	t.known[tid] = true
	if t.over && t.fault.All {
		_ = unix.Kill(tid, unix.SIGKILL) // it was being started when the others were killed
	}
	switch signal, cause := status.StopSignal(), status.TrapCause(); {
	case cause == unix.PTRACE_EVENT_SECCOMP:
		t.entry(tid)
		return 0
	case cause == unix.PTRACE_EVENT_EXEC: // the thread that starts a program takes the number of its process
		if former, err := unix.PtraceGetEventMsg(tid); err == nil && int(former) != tid {
			delete(t.known, int(former))
		}
		return 0
	case cause > 0: // a new thread or process
		return 0
	case signal == unix.SIGSTOP && first: // every new thread begins with that
		return 0
	default:
		return int(signal)
	}
}

// syscallInfo is the kernel's struct ptrace_syscall_info for a call that a filter stopped.
type syscallInfo struct {
	op       uint8
	_        [3]uint8
	arch     uint32
	ip, sp   uint64
	number   uint64
	args     [6]uint64
	reserved [2]uint64
}

// entry counts the call that a thread is about to make, and lets it fail, or kills the command, if it is its turn.
func (t *tracer) entry(tid int) {
	var info syscallInfo
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO, uintptr(tid), unsafe.Sizeof(info),
		uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 || t.over {
		return
	}
	c, path := t.change(tid, info.number, &info.args)
	if c == nil {
		return
	}
	t.calls = append(t.calls, c.name+" "+path)
	n, f := len(t.calls), t.fault
	switch {
	case f.KillAt == n:
		t.hit, t.over = t.calls[n-1], true
		for other := range t.known {
			if other == t.command || f.All {
				_ = unix.Kill(other, unix.SIGKILL)
			}
		}
	case f.Every > 0 && n%f.Every == 0 || f.From > 0 && n >= f.From:
		t.fail(tid, c, path, info.args[2])
	}
}

// fail lets the call fail. Where it cannot, since the process was killed, nothing is left to do.
func (t *tracer) fail(tid int, c *call, path string, third uint64) {
	switch errno := t.fault.Errno; {
	case errno == unix.ENOSPC && !c.grows(path), errno == unix.EROFS && c.sync:
		return
	case errno == unix.ENOSPC && t.fault.From == len(t.calls) && c.bytes && third > 1:
		_ = setThird(tid, third/2)
	default:
		_ = skip(tid, errno)
	}
	if t.hit == "" {
		t.hit = t.calls[len(t.calls)-1]
	}
}
