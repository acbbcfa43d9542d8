package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/cli"
	"github.com/opcast/opcast/internal/opdef"
)

// python is the interpreter of the environment with the frameworks.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("OPCAST_TEST_PYTHON")
	if path == "" {
		path = filepath.Join("..", ".venv", "bin", "python")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v: run `make build`", err)
	}
	return path
}

// TestMain makes the test's program the caller in Go, too, when the suite starts it as that.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == nativeCaller {
		if err := conformance.ServeNative(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == opcastCommand {
		os.Exit(asOpcast())
	}
	os.Exit(m.Run())
}

// opcastCommand makes this program the command line: the suite as one program for any project.
const opcastCommand = "opcast"

func asOpcast() int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cli.Self = []string{self, opcastCommand}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, os.Args[2:], os.Stdin, os.Stdout, os.Stderr)
}

// nativeCaller is the argument with which the suite starts this program.
const nativeCaller = "native-caller"

// TestConformance runs the suite on this repository's collection with the environment in .venv, or that of
// OPCAST_TEST_PYTHON. Ginkgo's flags select specs: go test ./conformance -ginkgo.label-filter='adaptor:jax'.
func TestConformance(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	project, findings, err := opdef.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	summary, err := conformance.Run(t.Context(), conformance.Options{
		Project: project, Python: python(t), Out: os.Stdout, Verbose: testing.Verbose(),
		ReportDir: filepath.Join(root, "build", "report"), T: t, Native: []string{self, nativeCaller},
		Stale: func(context.Context) ([]string, error) { return cli.Stale(project) },
	})
	if errors.Is(err, conformance.ErrNotBuilt) {
		t.Fatalf("%v: run `make build`", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Ginkgo's closing line, by which `make test` counts the results.
	fmt.Printf("-- %d Passed | %d Failed | 0 Pending | %d Skipped\n", summary.Passed, summary.Failed, summary.Skipped)
	if !summary.OK() {
		t.Errorf("%s", summary)
	}
}
