package cost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/opcast/opcast/internal/language/framework"
)

// importTime prints how long a package takes that is imported after another one.
const importTime = `
import importlib, sys, time

importlib.import_module(sys.argv[1])
begin = time.perf_counter()
importlib.import_module(sys.argv[2])
print(time.perf_counter() - begin)
`

// imports measures the packages in fresh processes: the backend beyond NumPy, those of adaptors beyond their frameworks.
func (m *measurement) imports(ctx context.Context) error {
	p := m.Project
	if err := m.importOf(ctx, "backend", "numpy", p.Manifest.Name+"_backend"); err != nil {
		return err
	}
	for _, f := range framework.All() {
		if !slices.Contains(p.Manifest.Adaptors, f.Name) {
			continue
		}
		if err := m.importOf(ctx, f.Name, f.Packages[0], p.Manifest.Name+"_"+f.Name); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) importOf(ctx context.Context, what, after, name string) error {
	fmt.Fprintf(m.Progress, "importing %s\n", name)
	figure, text := "import/"+what+"/time", "import of "+name+" beyond "+after
	var samples []float64
	for i := range m.Repeat + 3 { // each needs a moment; the first one may compile and read from the disk
		run := exec.CommandContext(ctx, m.Python, "-c", importTime, after, name)
		folders := strings.Join(m.Project.ImportFolders(m.Project.Manifest.Adaptors...), string(os.PathListSeparator))
		run.Env, run.Dir = append(slices.Clone(m.Environ), "PYTHONPATH="+folders), m.Project.Dir
		var stderr bytes.Buffer
		run.Stderr = &stderr
		out, err := run.Output()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			m.missing(figure, text, lines[len(lines)-1])
			return nil
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return fmt.Errorf("time of an import: %w", err)
		}
		if i > 0 {
			samples = append(samples, seconds)
		}
	}
	m.add(figure, text, samples...)
	return nil
}

// builds measures a clean build of the copy, builds after edits of one kernel, and the test after that.
func (m *measurement) builds(ctx context.Context) error {
	fmt.Fprintln(m.Progress, "building all")
	wall, user, err := timed(func() error { return m.Build(ctx, m.Copy) })
	if err != nil {
		return err
	}
	m.add("build/clean/wall", "a clean build of the library for the host", wall)
	m.add("build/clean/user", "processor time of that", user)
	file, op, found := m.typical()
	if !found {
		m.missing("build/edited/wall", "a build after an edit of one kernel", "no kernel includes what is generated for it")
		return nil
	}
	var walls, users, tests []float64
	for i := range m.Repeat {
		fmt.Fprintf(m.Progress, "building after an edit of %s, and testing %s\n", file.name, op)
		if err := edit(filepath.Join(m.Copy, filepath.FromSlash(file.name)), i); err != nil {
			return err
		}
		wall, user, err := timed(func() error { return m.Build(ctx, m.Copy) })
		if err != nil {
			return err
		}
		test, _, err := timed(func() error { return m.Test(ctx, m.Copy, op) })
		if err != nil {
			return err
		}
		walls, users, tests = append(walls, wall), append(users, user), append(tests, wall+test)
	}
	m.add("build/edited/wall", "a build after an edit of "+file.name, walls...)
	m.add("build/edited/user", "processor time of that", users...)
	m.add("build/tested/wall", "that build, and opcast test "+op+" --fast --adaptor backend", tests...)
	return nil
}

// edit changes what a file says, and not what it means.
func edit(path string, number int) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("edit a kernel: %w", err)
	}
	_, err = fmt.Fprintf(file, "// edit %d\n", number)
	return errors.Join(err, file.Close())
}

// timed tells how long something takes, and how much processor time the processes that it starts take.
func timed(do func() error) (wall, user float64, err error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &before); err != nil {
		return 0, 0, fmt.Errorf("processor time: %w", err)
	}
	begin := time.Now()
	if err := do(); err != nil {
		return 0, 0, err
	}
	wall = time.Since(begin).Seconds()
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &after); err != nil {
		return 0, 0, fmt.Errorf("processor time: %w", err)
	}
	return wall, time.Duration(after.Utime.Nano() - before.Utime.Nano()).Seconds(), nil
}
