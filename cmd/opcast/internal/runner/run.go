package runner

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/system/stacks"
)

// Timing is what a run found out beside its results.
type Timing struct {
	// Kernel is the variant that ran. Median and Fastest are those of the timed calls; zero without any.
	Kernel          string
	Median, Fastest time.Duration
	// Outside says what the first call wrote around arrays, a line for each place.
	Outside []string
}

// CallError is an error that the library raised; Text is "Class: text".
type CallError struct{ Text string }

// Error is the text with its class.
func (e *CallError) Error() string { return e.Text }

// The program's statuses: the call raised, the machine lacks what it needs, it touched memory that it may not.
const (
	exitRaised  = 1
	exitLacks   = 2
	exitFaulted = 4
)

// Run runs the case that was written to the path, and reads what the program says. A single call may take as long as the
// limit; zero stands for no limit.
func (c *Call) Run(ctx context.Context, program, path string, limit time.Duration) (Timing, error) {
	cmd := exec.CommandContext(ctx, program, path)
	cmd.Env = append(cmd.Environ(), c.Environ...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Timing{}, fmt.Errorf("start the call: %w", err)
	}
	watch := c.watch(cmd.Process.Pid, limit, func() { _ = cmd.Process.Kill() })
	timing, err := c.read(stdout, watch.calls)
	hangs := watch.end()
	ended := cmd.Wait()
	var exit *exec.ExitError
	status := 0
	if errors.As(ended, &exit) {
		status = exit.ExitCode()
	}
	text := strings.TrimSpace(stderr.String())
	switch {
	case hangs != "":
		return timing, fmt.Errorf("%s: %s", c.by(timing.Kernel), hangs)
	case status == exitRaised:
		return timing, &CallError{text}
	case status == exitLacks:
		return timing, &pyenv.MissingError{Text: text}
	case status == exitFaulted:
		return timing, fmt.Errorf("%s %s", c.by(timing.Kernel), c.fault(text))
	case ended != nil:
		return timing, fmt.Errorf("the call ended its process: %w\n%s", ended, text)
	}
	return timing, err
}

// by names the op and the kernel that ran, in the beginning of an error.
func (c *Call) by(kernel string) string {
	if kernel == "" {
		return c.Op
	}
	return c.Op + ": kernel " + kernel
}

// read understands the program's lines as they come, and tells when a call begins.
func (c *Call) read(stdout io.Reader, calls func()) (Timing, error) {
	var t Timing
	var failed error
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "call":
			calls()
		case "kernel":
			t.Kernel = rest
		case "kernels":
			answers, err := ReadAnswers(rest)
			failed = errors.Join(failed, err)
			if i := slices.IndexFunc(answers, func(a Answer) bool { return a.Reason == "" }); i >= 0 {
				t.Kernel = answers[i].Name
			}
		case "outside":
			var name string
			var offset int64
			if n, _ := fmt.Sscan(rest, &name, &offset); n == 2 {
				t.Outside = append(t.Outside, name+": written out of bounds: "+c.place(name, offset))
			}
		case "time":
			var median, fastest float64
			if n, _ := fmt.Sscan(rest, &median, &fastest); n == 2 {
				t.Median, t.Fastest = seconds(median), seconds(fastest)
			}
		}
	}
	return t, failed
}

// watched ends a call that takes too long, and says where it was.
type watched struct {
	timer *time.Timer
	limit time.Duration
	hangs chan string
}

func (c *Call) watch(pid int, limit time.Duration, kill func()) *watched {
	w := &watched{limit: limit, hangs: make(chan string, 1)}
	if limit > 0 {
		w.timer = time.AfterFunc(limit, func() {
			w.hangs <- fmt.Sprintf("no result within %v%s", limit, c.where(pid))
			kill()
		})
	}
	return w
}

// calls gives the next call its time.
func (w *watched) calls() {
	if w.timer != nil && w.timer.Stop() {
		w.timer.Reset(w.limit)
	}
}

// end says why the call was ended; empty if it was not.
func (w *watched) end() string {
	if w.timer == nil || w.timer.Stop() {
		return ""
	}
	return <-w.hangs
}

// where tells the stacks of a process in the library.
func (c *Call) where(pid int) string {
	found, err := stacks.Of(pid, c.Library)
	switch {
	case err != nil:
		return "; its stack cannot be read: " + err.Error()
	case len(found) == 0:
		return "; no thread is inside of the library"
	}
	return "; it is here, innermost first:\n" + strings.Join(found, "\n  and\n") + c.advice()
}
