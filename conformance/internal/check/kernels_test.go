package check

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	shellquote "github.com/kballard/go-shellquote"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/cases"
	"github.com/opcast/opcast/conformance/internal/testkit/loadtest"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
	"github.com/opcast/opcast/internal/testkit/tooltest"
)

// A kernel that the machine cannot run is not one that no sample reaches.
func TestOfMachine(t *testing.T) {
	for reason, want := range map[string]bool{
		"built for 80, this is 70":                        true,
		"needs an architecture >=90":                      true,
		"needs avx512_bf16, which this CPU lacks":         true,
		"not built into this library":                     true,
		"not emulated: its file is compiled by nvcc only": true,
		"this machine lacks OpenBLAS":                     true,
		"needs N % 8 == 0":                                false,
		"needs a call that this machine lacks":            false,
		"":                                                false,
	} {
		if got := ofMachine(reason); got != want {
			t.Errorf("ofMachine(%q) = %t", reason, got)
		}
	}
}

// What a sanitizer found comes first, and is one cause with all values.
func TestSanitizersAreTold(t *testing.T) {
	const race = "ThreadSanitizer: data race k.cc:7 in Scale"
	for name, tt := range map[string]struct{ stderr, text, cause string }{
		"a crash": {"Fatal Python error", "the process died: worker stopped: exit status 1\nFatal Python error", report.CauseDies},
		"a race":  {"==\nSUMMARY: " + race + "\n==", race + "\n==\nSUMMARY: " + race + "\n==", race},
		"an overflow": {"k.cc:6:41: runtime error: signed integer overflow: 3 * 1000000000 cannot be\n    #0",
			"k.cc:6:41: runtime error: signed integer overflow: 3 * 1000000000 cannot be\n    #0", "k.cc:6:41: runtime error: signed integer overflow"},
		"an address": {"k.cc:6:4: runtime error: load of misaligned address 0x7f01 for type 'int'\n",
			"k.cc:6:4: runtime error: load of misaligned address 0x7f01 for type 'int'\n", "k.cc:6:4: runtime error: load of misaligned address"},
	} {
		crash := &rpc.CrashError{Reason: "exit status 1", Stderr: tt.stderr}
		if text, died := crashText(crash); !died || text != tt.text || crashCause(crash) != tt.cause {
			t.Errorf("%s: got %q, because %q", name, text, crashCause(crash))
		}
	}
}

// A line that repeats a failure is one for a shell, whatever the words hold under which the call was made.
func TestPythonUnderWords(t *testing.T) {
	e := &Environment{Project: &opdef.Project{Dir: "/kit"}, Replay: ReplayInfo{
		Python: "/kit/env/bin/python", Under: []string{"env", "LD_PRELOAD=/lib/libtsan.so.2", "TSAN_OPTIONS=log_path=a|b"},
	}}
	words, err := shellquote.Split(e.python())
	if diff := cmp.Diff(append(slices.Clone(e.Replay.Under), "env/bin/python"), words); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if e.Replay.Under = nil; e.python() != "env/bin/python" {
		t.Error(e.python())
	}
}

// A check whose calls conditions exclude says so; a kernel that no call at all reaches needs samples.
func TestExcludedCalls(t *testing.T) {
	p := loadtest.Load(t, tooltest.Project(t, "few", `doc = "Copy short rows."
kind = 0
dtypes = { T = ["f32"] }
inputs = [{ name = "x", type = "T[N]", doc = "A." }]
outputs = [{ name = "y", type = "T[N]", doc = "A." }]
require = ["N <= 64"]
reference = "return x"
kernels = [{ name = "even", device = "cpu", when = "N % 2 == 0" }, { name = "never", device = "cpu", when = "N > 100" }, { name = "all", device = "cpu" }]
`))
	rows := &T{Op: p.Ops[0], Env: &Environment{Device: "cpu"}, Caller: calls.StubCaller{CallerName: calls.BackendName}, Ctx: t.Context()}
	large := func(d cases.DTypes) []cases.Plan {
		return []cases.Plan{{Name: "large", DTypes: d, Sizes: map[string]int64{"N": 1000}}}
	}
	if err := rows.EachCase(large, func(c *cases.Case) error { return errors.New(c.Name) }); err != nil {
		t.Fatal(err)
	}
	for i, unsupported := range []bool{true, false, true} {
		r := rows.Rows[i]
		if (r.Unsupported != "") != unsupported || (len(r.Failures) > 0) == unsupported {
			t.Errorf("%s: unsupported %q, failures %q", r.Kernel, r.Unsupported, r.Failures)
		}
	}
}
