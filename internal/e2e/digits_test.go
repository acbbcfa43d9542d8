package e2e

import (
	"bufio"
	_ "embed"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The example checks itself: accuracy, and equal bits in every adaptor.
func TestDigits(t *testing.T) {
	t.Parallel()
	t.Log(digits(t))
}

// The network learns in both frameworks, and a batch that is split gives the losses of one that is not.
func TestDigitsTraining(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, options string
		atLeast       float64 // what the steps suffice for, in percent
		long          bool    // left out of short runs: the others show its parts
	}{
		{"torch in processes", "--framework torch --processes 2 --compare", 96, true},
		{"jax on devices", "--framework jax --devices 2 --compare", 96, true},
		{"torch in processes, briefly", "--framework torch --processes 2 --steps 60 --compare", 50, false},
		{"jax in processes, briefly", "--framework jax --processes 2 --devices 2 --steps 100 --compare", 50, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.long {
				t.Skip("a short run trains briefly")
			}
			out := digits(t, append([]string{"--train"}, strings.Fields(c.options)...)...)
			t.Log(out)
			accuracies := numbers(t, out, `(?m)^(\S+)% of the 360 held-out digits are right$`)
			differences := numbers(t, out, `(?m)^largest difference of a loss in \d+ steps: (\S+)$`)
			runs := 1 + strings.Count(c.options, "--compare")
			if len(accuracies) != runs || len(differences) != runs-1 {
				t.Fatalf("%d accuracies and %d differences, want %d and %d", len(accuracies), len(differences), runs, runs-1)
			}
			for _, a := range accuracies {
				if a < c.atLeast {
					t.Errorf("accuracy %v %%, want at least %v %%", a, c.atLeast)
				}
			}
			for _, d := range differences {
				if !(d <= 1e-4) {
					t.Errorf("the losses differ by %v, want at most 1e-4", d)
				}
			}
		})
	}
}

// What cannot be trained is said before any process starts.
func TestDigitsUsage(t *testing.T) {
	const withoutTorch = "import runpy, sys; sys.modules['torch'] = None; runpy.run_path('examples/digits', run_name='__main__')"
	for _, c := range []struct {
		options, want string
		code          int
		program       []string
	}{
		{"--steps 3", "options need --train", 2, nil},
		{"--train --steps 0", "argument --steps: expected a number from 1, got 0", 2, nil},
		{"--train --processes 3", "expected a number of parts that divides the 256 images of a batch, got 3", 2, nil},
		{"--train --devices 2", "--devices: only jax simulates devices: use --processes 2", 2, nil},
		{"--train --compare", "--compare: expected several processes or devices", 2, nil},
		{"--train", "torch is not installed: run `make build` and use .venv/bin/python", 3, []string{"-c", withoutTorch}},
	} {
		if c.program == nil {
			c.program = []string{filepath.Join("examples", "digits")}
		}
		words := slices.Concat([]string{python(t)}, c.program, strings.Fields(c.options))
		out, err := command(t, root(t), words...).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != c.code || !strings.HasSuffix(string(out), c.want+"\n") {
			t.Errorf("%s: %v\n%s\nwant exit status %d and %q", c.options, err, out, c.code, c.want)
		}
	}
}

//go:embed workers.py
var workersScript string

// Processes give a result, and none outlives a failure, an interruption or the death of the one that started them.
func TestDigitsProcesses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		signal     syscall.Signal
	}{
		{name: "work", want: "[0, 3]\n"},
		{name: "fail", want: "process 1 of 3 ended with 7\n"},
		{name: "sleep", want: "interrupted\n", signal: syscall.SIGINT},
		{name: "sleep", signal: syscall.SIGKILL},
	} {
		t.Run(c.name+" "+c.signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			script := filepath.Join(dir, "script.py")
			write(t, script, []byte(workersScript))
			temporary := filepath.Join(dir, "temporary")
			if err := os.Mkdir(temporary, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd := command(t, dir, python(t), script, c.name)
			cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root(t), "examples", "digits"), "TMPDIR="+temporary)
			if got := untilAllEnd(t, cmd, c.signal); got != c.want {
				t.Errorf("prints %q, want %q", got, c.want)
			}
			left, err := os.ReadDir(temporary)
			if err != nil || (len(left) > 0 && c.signal != syscall.SIGKILL) {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
}

// untilAllEnd returns what a command prints after its first line, at which it gets the signal. Its output ends when
// all processes have ended that can write to it.
func untilAllEnd(t *testing.T, cmd *exec.Cmd, signal syscall.Signal) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	cmd.Stdout = writer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if err := reader.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(reader)
	if line, err := lines.ReadString('\n'); line != "started\n" {
		t.Fatalf("prints %q: %v", line, err)
	}
	if signal != 0 {
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Errorf("a process still runs: %v", err)
	}
	if err := cmd.Wait(); err != nil && signal == 0 {
		t.Error(err)
	}
	return string(rest)
}

// digits is what the example prints.
func digits(t *testing.T, options ...string) string {
	t.Helper()
	return run(t, command(t, root(t), append([]string{python(t), filepath.Join("examples", "digits")}, options...)...))
}

// numbers are those that a pattern finds.
func numbers(t *testing.T, text, pattern string) (found []float64) {
	t.Helper()
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, x)
	}
	return found
}
