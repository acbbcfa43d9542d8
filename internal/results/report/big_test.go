package report_test

import (
	"fmt"
	"math"

	"github.com/opcast/opcast/internal/results/report"
)

// hostile is what a definition may hold to break a page.
const hostile = `</script><img src="https://example.invalid/x.png" onerror="window.broken = 1"> ${1} {{.}} <!--`

// groupsOf are the groups of big and how many checks each has.
var groupsOf = []struct {
	name string
	n    int
}{
	{"Values", 13}, {"Shapes", 4}, {"Dtypes", 2}, {"Strides", 12}, {"Zero size", 1}, {"Aliasing", 10}, {"Errors", 10},
	{"Transformations", 16}, {"Across adaptors", 6}, {"Streams", 4},
}

// big is a report of the size that a large project has: n ops through eight callers, with a few failures.
func big(n int) *report.Report {
	r := &report.Report{
		Schema: report.Schema, SuiteVersion: "4", Collection: "demo", Device: "cpu", Started: "2026-01-02T10:00:00Z", Seconds: 526,
		LibrarySHA256: "c0ffee0123456789c0ffee0123456789", OpdefsDigest: "decade0123456789decade0123456789",
		Adaptors:    map[string]string{"definition": "", "backend": "0.1.15", "jax": "0.10.2", "numpy": "2.4.6", "torch": "2.15.0"},
		Environment: map[string]string{"cores": "2", "processor": "a processor", "system": "Linux", "python": "3.13.1"},
	}
	for _, g := range groupsOf {
		for i := range g.n {
			id := checkID(g.name, i)
			r.Checks = append(r.Checks, report.Check{ID: id, Group: g.name, Profile: "core", Doc: "what must hold of " + id})
		}
	}
	for i := range n {
		op := fmt.Sprintf("op_%02d", i)
		for k, caller := range []string{"backend", "cupy", "definition", "jax", "native", "numpy", "op_call", "torch"} {
			r.Results = append(r.Results, through(op, caller, i, k)...)
		}
		r.ULPs = append(r.ULPs, errorsOf(op, i)...)
	}
	return r
}

func checkID(group string, i int) string { return fmt.Sprintf("%.4s-check-%d", group, i) }

// through are the results of one op through one caller.
func through(op, caller string, i, k int) []report.Result {
	var out []report.Result
	for g, group := range groupsOf {
		if caller == "definition" && g%3 != 0 {
			continue
		}
		for c := range group.n {
			for _, dtype := range []string{"T = float16", "T = bfloat16"} {
				x := report.Result{
					Op: op, Adaptor: caller, Group: group.name, Check: checkID(group.name, c), Kernel: op + "_cpu", DType: dtype,
					Status: report.Pass, Seconds: float64(i+k+c) / 700, File: "opdefs/" + op + ".toml", Line: 1,
				}
				switch {
				case caller == "cupy":
					x.Status, x.Reason = report.Skip, "cupy: no CUDA device"
				case group.name == "Streams":
					x.Status, x.Reason = report.Unsupported, "streams are CUDA's"
				case (i*7+k*3+c*5+g)%53 == 0:
					x.Status, x.Reason = report.Unsupported, "the framework cannot express a negative stride"
				case (i*31+k*17+c*13+g*7)%211 == 3:
					x.Status, x.Reproducer, x.Seed = report.Fail, "cases/"+op+".py", "17"
					x.Reason = "random sizes, * = [2, 3], N = 129, T = float16: y[1, 2, 128]: got 0.5, want 0.25, 4096 ulp off\n" +
						"  allowed: 1 ulp\n" + hostile
				}
				out = append(out, x)
			}
		}
	}
	return out
}

// errorsOf are the errors of one op.
func errorsOf(op string, i int) []report.ULPs {
	var out []report.ULPs
	for _, caller := range []string{"backend", "jax", "numpy", "torch"} {
		for d, dtype := range []string{"T = float16", "T = float32"} {
			bins := []int64{90000, 40000, 900, 0, 0, 0, 0, 0, 0, 0}
			if d == 1 {
				bins = []int64{50000, 70000, 8000, 300, int64(12 * i), 0, 0, 0, 0, 0}
			}
			out = append(out, report.ULPs{
				Op: op, Adaptor: caller, Kernel: op + "_cpu", DType: dtype, Output: "y", Bins: bins, Allowed: "4 ulp",
				Worst: .5 + float64(i%7)/2 + float64(d), Share: (.5 + float64(i%7)/2) / 4,
				Index: []int64{1, 2, 128}, Got: "0.12345678", Want: "0.12345677",
			})
		}
	}
	if i == 3 {
		out[0].Worst = math.Inf(1)
	}
	return out
}

// extras gives a report what only some runs have.
func extras(r *report.Report) {
	for i := range 60 {
		m := report.Mutant{
			ID: fmt.Sprintf("op_01/backend/drop-rule/%d", i), Op: "op_01", Adaptor: "backend",
			Kind:  []string{"drop-rule", "wrong-stride", "wrong-default"}[i%3],
			Where: "backend/gen/op_01.gen.cc:17", Change: "if (x.ndim < 1) → if (false)",
			Verdict: "killed", By: "errors", Expected: []string{"errors"},
		}
		switch i {
		case 4:
			m.Verdict, m.By = "survived", ""
		case 5:
			m.Verdict, m.By, m.Reason = "equivalent", "", "the kernel checks it as well: "+hostile
		case 9:
			m.By = "value"
		}
		r.Mutants = append(r.Mutants, m)
	}
	r.Versions = []report.Version{
		{Name: "oldest", Python: "3.11.9", Have: map[string]string{"torch": "2.4.0", "numpy": "1.26.4"}, Profile: "core",
			LibrarySHA256: r.LibrarySHA256, Passed: 4100, Skipped: 200, Seconds: 300},
		{Name: "newest", Python: "3.14.0", Profile: "core", Reason: "no wheel of torch for this Python"},
	}
	r.Random = []report.Random{{
		Op: "op_01", Adaptor: "native", Seed: 1, Calls: 52632, Reached: 9000, Raised: map[string]int64{"ValueError": 30000, hostile: 13632},
		Live: 2048, Resident: -4096,
	}}
	r.Timings = []report.Timing{{Op: "op_01", Adaptor: "torch", Case: "N = 4096, T = float16", Ours: 12.5, Theirs: 25, Ratio: .5}}
}
