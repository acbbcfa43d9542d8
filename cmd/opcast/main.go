// Command opcast turns op definitions into packages for PyTorch, JAX, CuPy, NumPy and PaddlePaddle.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/opcast/opcast/cmd/opcast/internal/command"
)

func main() {
	ctx := interruptible(context.Background())
	self, _ := os.Executable() // commands that need the path say that it is missing
	process := command.Process{Self: self, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	os.Exit(command.Main(ctx, process, os.Args[1:]))
}

// sameSignal is within which time a second signal is the first one again: timeout(1), for one, sends it to its child and to
// the group in which that is.
const sameSignal = 500 * time.Millisecond

// interruptible returns a context that ends with the first signal. The second one ends the program at once: its child
// processes end when it does, and the next run removes its temporary folders.
func interruptible(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	for _, s := range command.Signals {
		if s != syscall.SIGHUP || !signal.Ignored(s) { // nohup has it ignored
			signal.Notify(signals, s)
		}
	}
	go func() {
		first := interruption(<-signals)
		cancel(first)
		for at := time.Now(); ; {
			if second := interruption(<-signals); time.Since(at) > sameSignal {
				os.Exit(second.ExitCode())
			}
		}
	}()
	return ctx
}

// interruption is what a signal means to the commands.
func interruption(s os.Signal) command.Interruption {
	number, _ := s.(syscall.Signal) // there are no others here
	return command.Interruption{Signal: number}
}
