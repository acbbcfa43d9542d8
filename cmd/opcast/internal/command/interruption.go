package command

import "syscall"

// Interruption is the cause for which the context of Main ends: a signal.
type Interruption struct{ Signal syscall.Signal }

// Signals are those that end a command in good order: Ctrl-C, kill, and a terminal that is closed.
var Signals = []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}

// signalNames are the names that people and shells know.
var signalNames = map[syscall.Signal]string{syscall.SIGINT: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// Error says what happened.
func (i Interruption) Error() string { return "interrupted by " + signalNames[i.Signal] }

// ExitCode is the code by which shells know that a signal ended a program.
func (i Interruption) ExitCode() int { return 128 + int(i.Signal) }
