package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/opcast/opcast/internal/build/pyenv"
)

// errFailed is all there is to say after ninja and the compiler have spoken.
var errFailed = errors.New("build failed")

// runNinja runs a build file from the project's folder. What ninja starts cannot outlive the lock of the build: it ends
// with this process, and until it has ended it holds the lock, too.
func runNinja(ctx context.Context, o Options, program, file string) error {
	args := []string{"-f", file}
	if o.Verbose {
		args = append(args, "-v")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = o.Project.Dir, o.Log, o.Log
	// Below "make -j", ninja would look for make's jobserver in files that this process does not have.
	cmd.Env = slices.DeleteFunc(cmd.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKEFLAGS=") })
	cmd.Env = append(cmd.Env, ninjaStatus)
	if o.Lock != nil {
		cmd.ExtraFiles = []*os.File{o.Lock.file}
	}
	// The signal comes when the thread ends that started ninja, so that thread must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT}
	// An interrupt lets ninja end its compilers.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 0 && o.Lock != nil {
		o.Lock.left = true // ninja waits for its compilers, unless it is killed
	}
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0 && ctx.Err() == nil:
		return errFailed
	case err != nil:
		return fmt.Errorf("run ninja: %w", err)
	}
	return nil
}

// readDependencies returns, for each object that ninja made, the files that were read for it.
func readDependencies(ctx context.Context, dir, program, file string) (map[string][]string, error) {
	cmd := exec.CommandContext(ctx, program, "-f", file, "-t", "deps")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask ninja what was compiled: %w", err)
	}
	reads, object := map[string][]string{}, ""
	for _, line := range strings.Split(string(out), "\n") {
		read, indented := strings.CutPrefix(line, "    ")
		switch {
		case indented && object != "":
			reads[object] = append(reads[object], path.Clean(read))
		case !indented:
			object, _, _ = strings.Cut(line, ": #deps ")
			if !strings.HasSuffix(line, "(VALID)") {
				object = "" // it did not become complete
			}
		}
	}
	return reads, nil
}

// findNinja returns the environment's ninja or the one on PATH, and an error that names every package that a build
// lacks.
func findNinja(env *pyenv.Env) (program string, err error) {
	lacking := env.Lacking("apache-tvm-ffi")
	if program = env.Ninja; program == "" {
		// The package may be installed, but elsewhere: an environment can borrow from another.
		if program, err = exec.LookPath("ninja"); err != nil {
			lacking = append(lacking, "ninja")
		}
	}
	if len(lacking) > 0 {
		return "", env.Missing(lacking...)
	}
	return program, nil
}
