// Package faultinject runs a command, and all processes that it starts, under faults: system calls that fail as on a full
// disk or in a read-only folder, and kills at a chosen moment. Only tests use it.
//
// A process of its own traces the command with ptrace, since it waits for every process below it and may take nobody else's.
// It is the test program, started once more: a TestMain whose tests use this package begins with Tracer.
package faultinject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Fault says what happens at which calls. Only calls count that change a file, or the entries of a folder, in one of the
// folders In: writes, opening for writing, syncs, renames, links, removals and the like. Reads, pipes and terminals
// do not count.
type Fault struct {
	In []string
	// Every lets each n-th call fail, From all from the n-th on; 0 lets none fail. A full disk (ENOSPC) takes what needs no
	// space, such as a removal, and a read-only folder (EROFS) takes a sync. On a disk that gets full, the n-th call
	// writes half of its bytes.
	Every, From int
	Errno       syscall.Errno
	// KillAt kills the command at the n-th call, by whichever process. What the command started lives on, as after a
	// `kill -9`, unless All is true.
	KillAt int
	All    bool
}

// Result is how a command ended.
type Result struct {
	// Code is its exit code, or -1 if a signal ended it.
	Code int
	// Calls are those that counted until then, as "name path". Hit is the first that failed, or the one at which it was killed.
	Calls []string
	Hit   string
	// Stdout and Stderr are what it and its descendants printed until then.
	Stdout, Stderr string
}

// ErrRefused says that this machine lets no process trace another.
var ErrRefused = errors.New("the machine does not permit ptrace")

// Process is a command under faults.
type Process struct {
	tracer         *exec.Cmd
	stdout, stderr *os.File
	answers        *json.Decoder
	reports        *os.File
}

// answer is what the tracer says when the command has ended, and once more when all of its descendants have.
type answer struct {
	Code         int
	Calls        []string
	Hit, Refused string
}

// variable holds the Fault for the tracer; tracedVariable tells a process that it is to become the command.
const variable, tracedVariable = "OPCAST_FAULTINJECT", "OPCAST_FAULTINJECT_TRACED"

// Start starts the command, whose Stdin, Stdout and Stderr are not used. It and its descendants end with the context.
func Start(ctx context.Context, cmd *exec.Cmd, f Fault) (*Process, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	for i, folder := range f.In {
		real, err := filepath.EvalSymlinks(folder)
		if err != nil {
			return nil, fmt.Errorf("inject faults: %w", err)
		}
		f.In[i] = real
	}
	fault, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("inject faults: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("inject faults: %w", err)
	}
	p := &Process{tracer: exec.CommandContext(ctx, self, append([]string{cmd.Path}, cmd.Args...)...)}
	p.tracer.Dir, p.tracer.Env = cmd.Dir, append(cmd.Environ(), variable+"="+string(fault))
	if err := p.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("inject faults: %w", err), p.close())
	}
	return p, nil
}

// start opens the files and starts the tracer. The output goes to files: pipes would wait for descendants that live on.
func (p *Process) start() (err error) {
	if p.stdout, err = unnamed(); err != nil {
		return err
	}
	if p.stderr, err = unnamed(); err != nil {
		return err
	}
	answers, reports, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reports.Close()
	p.reports, p.answers = answers, json.NewDecoder(answers)
	p.tracer.Stdout, p.tracer.Stderr, p.tracer.ExtraFiles = p.stdout, p.stderr, []*os.File{reports}
	return p.tracer.Start()
}

// unnamed is a file that nobody else sees.
func unnamed() (*os.File, error) {
	file, err := os.CreateTemp("", "faultinject-*")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// Wait waits for the command itself.
func (p *Process) Wait() (r Result, err error) {
	var a answer
	if err := p.answers.Decode(&a); err != nil {
		return r, fmt.Errorf("the tracer ended: %w%s", err, p.text(p.stderr))
	}
	if a.Refused != "" {
		return r, fmt.Errorf("%w: %s", ErrRefused, a.Refused)
	}
	return Result{a.Code, a.Calls, a.Hit, p.text(p.stdout), p.text(p.stderr)}, nil
}

// End waits for all descendants of the command, after Wait.
func (p *Process) End() error {
	return errors.Join(p.tracer.Wait(), p.close())
}

// Run runs the command and waits for all of its descendants.
func Run(ctx context.Context, cmd *exec.Cmd, f Fault) (r Result, err error) {
	p, err := Start(ctx, cmd, f)
	if err != nil {
		return r, err
	}
	r, err = p.Wait()
	return r, errors.Join(err, p.End())
}

func (p *Process) text(file *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(file, 0, 1<<20))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (p *Process) close() error {
	var all []error
	for _, file := range []*os.File{p.stdout, p.stderr, p.reports} {
		if file != nil {
			all = append(all, file.Close())
		}
	}
	return errors.Join(all...)
}
