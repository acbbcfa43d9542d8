package e2e

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// `opcast run --watch` says after each change of a file whether the kernel is right now, also of one that does not
// compile, and ends in peace.
func TestRunWatch(t *testing.T) {
	dir, env := demoProject(t), borrowed(t)
	factor := func(text string) {
		write(t, filepath.Join(dir, "csrc", "factor.h"), []byte("#pragma once\nconstexpr float kFactor = "+text+";\n"))
	}
	cmd := command(t, "", tooltest.Path(t), "-C", dir, "run", "scale", "x=40", "--watch", "--repeat", "1", "--python", env)
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	err = cmd.Start()
	_ = writer.Close() // the command has it
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(reader)
	for i, step := range []struct{ factor, want string }{
		{"1.0f", "y: ok, "}, {"2.0f", "y: WRONG, "}, {"nonsense", "opcast: build failed"}, {"1.0f", "y: ok, "},
	} {
		if i > 0 { // the first run needs no change
			factor(step.factor)
		}
		said := until(t, lines, "waiting for a change; end with Ctrl-C\n")
		if !strings.Contains(said, step.want) {
			t.Errorf("factor %s: got %q, want %q", step.factor, said, step.want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, lines) // whatever is left
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v, want exit code 0", err)
	}
}

// until reads up to and including the line.
func until(t *testing.T, lines *bufio.Reader, last string) string {
	t.Helper()
	var said strings.Builder
	for {
		line, err := lines.ReadString('\n')
		said.WriteString(line)
		if err != nil {
			t.Fatalf("%v after %q", err, said.String())
		}
		if line == last {
			return said.String()
		}
	}
}
