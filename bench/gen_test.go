// Package bench holds the measurements that the documentation states. They are benchmarks, never tests: how fast a
// machine is decides nothing about correctness.
package bench

import (
	"fmt"
	"testing"

	"github.com/opcast/opcast/gen"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// many is a project of n ops: the repository's own, over and over under new names.
func many(b *testing.B, n int) *opdef.Project {
	b.Helper()
	own, findings, err := load.Load("..")
	if err != nil || len(findings) > 0 {
		b.Fatal(findings, err)
	}
	project := *own
	project.Ops = make([]*opdef.Op, n)
	for i := range n {
		op := *own.Ops[i%len(own.Ops)]
		op.Name = fmt.Sprintf("%s_%d", op.Name, i)
		op.File, op.Kind, op.Kernels = "opdefs/"+op.Name+".toml", i, nil
		project.Ops[i] = &op
	}
	return &project
}

// BenchmarkGenerate renders every file of collections of growing size.
func BenchmarkGenerate(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		b.Run(fmt.Sprintf("ops=%d", n), func(b *testing.B) {
			project := many(b, n)
			size := 0
			for b.Loop() {
				files, err := gen.Generate(project)
				if err != nil {
					b.Fatal(err)
				}
				size = 0
				for _, f := range files {
					size += len(f.Content)
				}
			}
			b.ReportMetric(float64(size)/float64(n), "B/definition")
		})
	}
}
