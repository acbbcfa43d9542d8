// Command opcast turns op definitions into packages for PyTorch, JAX, CuPy and NumPy.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/opcast/opcast/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
