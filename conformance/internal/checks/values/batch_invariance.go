package values

import (
	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/internal/language/opdef"
)

var batchInvarianceCheck = check.Check{
	ID: "batch-invariance", Group: check.GroupValues, Generated: true,
	Doc:     "a row gives the same bits in batches of 1 to 1,031 rows, also where sums are long",
	Through: check.ThroughAdaptors, Needs: check.When(promisesInvariance, "the op promises no such thing"),
	Foreign: check.AboutGenerated, Run: check.WithEachKernel(checkBatchInvariance),
}

func promisesInvariance(op *opdef.Op) bool { return op.Deterministic && len(op.ParallelDims()) > 0 }

// checkBatchInvariance makes a call with so many rows that kernels go another way than for one, as where few rows leave
// multiprocessors idle unless each sum is parted. One of the other dimensions is long, for sums to be worth it.
func checkBatchInvariance(t *check.T) error {
	if err := skipCompiled(t); err != nil {
		return err
	}
	return t.EachRow(func(d cases.DTypes) error {
		return check.ForEach(t.Op.ParallelDims(), func(dim string) error {
			if !kept(t, dim) {
				t.CurrentRow().Unsupported = "the kernel breaks parts along " + dim
				return nil
			}
			long, short := cases.InvariantPlans(t.Op, d, dim)
			made := t.CasesOf(long)
			if len(made) == 0 {
				made = t.CasesOf(short)
			}
			return check.ForEach(made, func(c *cases.Case) error { return invariant(t, c, dim) })
		})
	})
}

// invariant compares batches of 1, 2, 3, 4, 6, 8, 12, … rows with those rows of all: a kernel may go another way for some batches
// only. The fewest rows are also the last ones.
func invariant(t *check.T, c *cases.Case, dim string) error {
	whole, err := t.RunBaseline(t.Caller, c)
	if err != nil {
		return err
	}
	n, least := c.Rows(dim), true
	for few := int64(1); few < n; few = more(few) {
		part, err := c.Part(dim, 0, few)
		if err != nil {
			return err
		}
		if k := t.RowKernel(); !part.Allowed() || k != nil && part.Refuses(k) {
			continue
		}
		if err := expectRows(t, part, whole, dim, [2]int64{0, few}); err != nil {
			return err
		}
		if !least {
			continue
		}
		least = false
		last, err := c.Part(dim, n-few, n)
		if err == nil {
			err = expectRows(t, last, whole, dim, [2]int64{n - few, n})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// more is the power of two, or thrice one, that comes after another.
func more(n int64) int64 {
	if n%3 == 0 {
		return n / 3 * 4
	}
	return n + max(n/2, 1)
}

// expectRows makes a call with some of the rows and compares it with that part of the results of all.
func expectRows(t *check.T, part *cases.Case, whole *calls.Result, dim string, rows [2]int64) error {
	call, got, err := t.RunCase(t.Caller, part)
	if err == nil {
		expectPart(t, call, part, whole, got, dim, rows)
	}
	return err
}
