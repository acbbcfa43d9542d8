package run

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/native"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/rpc"
)

// batchesRun makes 60 random calls of affine through a process that does so by itself.
func batchesRun(t *testing.T, caller *fake.BatchingFramework) (string, report.Random) {
	t.Helper()
	s := &Runner{Env: &check.Environment{Project: fake.Toy(t), Device: "cpu", RandomCallsPerOp: 60, Callers: []calls.Caller{caller}}}
	check := checkNamed(t, "random-calls")
	results := s.run(t.Context(), fake.ToyOp(t, "affine"), caller, &check)
	if len(s.Env.RandomTallies.List) == 0 {
		return fmt.Sprintf("%s: %s", results[0].Status, results[0].Reason), report.Random{}
	}
	return fmt.Sprintf("%s: %s", results[0].Status, results[0].Reason), s.Env.RandomTallies.List[0]
}

// A process that makes random calls by itself is watched: its crashes cost a call, its growth and failures show.
func TestRandomBatches(t *testing.T) {
	_, perfect := batchesRun(t, &fake.BatchingFramework{Framework: &fake.Framework{CallerName: calls.NativeName}, CrashAt: -1})
	for name, test := range map[string]struct {
		plant func(*fake.BatchingFramework)
		want  string
	}{
		"perfect":       {func(*fake.BatchingFramework) {}, "pass: "},
		"crashes":       {func(b *fake.BatchingFramework) { b.CrashAt = 30 }, "random call 30 of seed 0: the process died: worker stopped: signal"},
		"crashes later": {func(b *fake.BatchingFramework) { b.CrashAt = 45 }, "random call 45 of seed 0: the process died: worker stopped: signal"},
		"leaks":         {func(b *fake.BatchingFramework) { b.Growth = 2 << 20 }, "grew by 2097152 bytes of malloc"},
		"leaks after a crash": {func(b *fake.BatchingFramework) {
			b.CrashAt, b.Used.Live, b.Growth = 45, 50<<20, 2<<20
		}, "grew by 2097152 bytes of malloc"},
		"shrinks":    {func(b *fake.BatchingFramework) { b.Growth = -2 << 20 }, "pass: "},
		"fails once": {func(b *fake.BatchingFramework) { b.Fails = []int64{7} }, "random call 7: among others, though not alone: odd"},
	} {
		t.Run(name, func(t *testing.T) {
			caller := &fake.BatchingFramework{Framework: &fake.Framework{CallerName: calls.NativeName}, CrashAt: -1}
			test.plant(caller)
			crashes := caller.CrashAt >= 0
			got, figures := batchesRun(t, caller)
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q", got, test.want)
			}
			want := perfect.Calls
			if crashes {
				want-- // the others of its batch are made again
			}
			if figures.Calls != want || figures.Reached == 0 || figures.Live < 0 {
				t.Errorf("figures %+v, want %d calls", figures, want)
			}
		})
	}
}

// A process that ends outside of all calls of a batch is not said to have died of one.
func TestRandomCrashElsewhere(t *testing.T) {
	for _, reached := range []int64{-1, 5, 60} {
		caller := &fake.BatchingFramework{Framework: &fake.Framework{CallerName: calls.NativeName}, CrashAt: 45, CrashedAt: &reached}
		got, _ := batchesRun(t, caller)
		if !strings.Contains(got, "signal: segmentation fault") || strings.Contains(got, "random call") {
			t.Errorf("%d: %s", reached, got)
		}
	}
}

// What an earlier batch left in the shared page is forgotten before the next one.
func TestRandomReached(t *testing.T) {
	page, err := native.SharedPage(filepath.Join(t.TempDir(), "reached"))
	if err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint64(page, 8)
	w := rpc.New(rpc.Config{Command: []string{"false"}, Dir: t.TempDir(), StartDeadline: time.Minute, CallDeadline: time.Minute})
	n := &worker.NativeProcess{Process: &worker.Process{CallerName: calls.NativeName, Worker: w}, LastCall: page}
	if at := n.CallInProgress(); at != 7 {
		t.Errorf("reached %d, want 7", at)
	}
	if _, err := n.Batch(t.Context(), "affine", 0, 0, 1); err == nil {
		t.Error("a process that ends at once makes calls")
	}
	if at := n.CallInProgress(); at != -1 {
		t.Errorf("reached %d, want none", at)
	}
}
