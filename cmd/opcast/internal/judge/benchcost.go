package judge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/opcast/opcast/conformance"
	"github.com/opcast/opcast/internal/build/cost"
	"github.com/opcast/opcast/internal/build/pyenv"
	"github.com/opcast/opcast/internal/results/bench"
	"github.com/opcast/opcast/internal/system/tempdir"
)

// costSuite is the suite that measures what a collection costs its author.
const costSuite = "cost"

// costs measures a copy of the collection.
func (a commands) costs(ctx context.Context, o conformance.BenchOptions, env *pyenv.Env) (figures []bench.Figure, err error) {
	temp, err := tempdir.Make("", "opcast-cost")
	if err != nil {
		return nil, fmt.Errorf("folder for a copy: %w", err)
	}
	defer func() { err = errors.Join(err, temp.Remove()) }()
	dir := filepath.Join(temp.Path, "copy")
	if err := conformance.CopyProject(o.Project.Dir, dir); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, "build")); err != nil {
		return nil, fmt.Errorf("copy the project: %w", err)
	}
	return cost.Measure(ctx, cost.Options{
		Project: o.Project, Python: env.Python, Environ: o.Environ, Copy: dir, Repeat: 3, Progress: a.Stderr,
		Build: func(ctx context.Context, dir string) error { return a.buildCopy(ctx, env, dir, io.Discard, "cpu") },
		Test: func(ctx context.Context, dir, op string) error {
			test := exec.CommandContext(ctx, a.Self, "test", op, "--fast", "--no-build", "--adaptor", "backend", "--python", env.Python)
			test.Dir = dir
			out, err := test.CombinedOutput()
			if err != nil {
				return fmt.Errorf("opcast test %s: %w\n%s", op, err, out)
			}
			return nil
		},
	})
}
