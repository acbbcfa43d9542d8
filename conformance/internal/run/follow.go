package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/results/report"
)

// stallTimeout is how long a job may tell nothing: it starts workers, or runs one check, and both have deadlines of
// their own.
const stallTimeout = worker.StartDeadline + specDeadline + worker.CallDeadline

// errStalled is the end of a job that hangs in spite of them.
var errStalled = errors.New("it told nothing")

// follow starts a process and listens to it until its end, or until it has told nothing for too long.
func (p *publisher) follow(ctx context.Context, words []string, dir string, patience time.Duration) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := jobCommand(ctx, words)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("start a job: %w", err)
	}
	timer := time.AfterFunc(patience, func() { cancel(fmt.Errorf("%w for %v", errStalled, patience)) })
	defer timer.Stop()
	// Children of a process that is killed may have its output, too: they shall not keep anyone waiting.
	defer context.AfterFunc(ctx, func() {
		if !stalled(ctx) {
			time.Sleep(endDeadline) // it may tell how it ends
		}
		_ = out.Close()
	})()
	told := p.readMessages(activityReader{out, func() { timer.Reset(patience) }})
	err = cmd.Wait()
	if stalled(ctx) {
		told = context.Cause(ctx)
	}
	var exit *exec.ExitError
	if _, left := os.Stat(filepath.Join(dir, report.File)); left == nil && errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // some check failed, and has been told
	}
	if err = errors.Join(err, told); err != nil {
		return fmt.Errorf("a job: %w\n%s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// stalled reports whether a context ended because a job told nothing.
func stalled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errStalled) }

// jobCommand is the command of a job. A signal to this process is passed on, once: in its own group, a job gets none from a
// terminal. If this process is killed, the job is told to end.
func jobCommand(ctx context.Context, words []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.WaitDelay = endDeadline
	cmd.Cancel = func() error {
		if stalled(ctx) {
			return cmd.Process.Kill()
		}
		return cmd.Process.Signal(syscall.SIGTERM) // SIGINT may be ignored: that is inherited
	}
	return cmd
}

// endDeadline is how long a job may take to end in good order, and the children of one that was killed may keep its output
// open.
const endDeadline = 20 * time.Second

// activityReader is a reader that says when something was read.
type activityReader struct {
	io.Reader
	onRead func()
}

// Read reads, and says so.
func (h activityReader) Read(text []byte) (int, error) {
	n, err := h.Reader.Read(text)
	h.onRead()
	return n, err
}
