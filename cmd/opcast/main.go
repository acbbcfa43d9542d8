// Command opcast turns op definitions into packages for PyTorch, JAX, CuPy and NumPy.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/opcast/opcast/cmd/opcast/internal/command"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	self, _ := os.Executable() // commands that need the path say that it is missing
	process := command.Process{Self: self, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	code := command.Main(ctx, process, os.Args[1:])
	stop()
	os.Exit(code)
}
