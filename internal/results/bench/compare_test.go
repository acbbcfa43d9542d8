package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/results/bench"
)

// slowed multiplies the time of an op, in all units.
func slowed(r *bench.Result, row int, by float64) *bench.Result {
	times := func(s bench.Spread, by float64) bench.Spread {
		return bench.Spread{Low: s.Low * by, Median: s.Median * by, High: s.High * by}
	}
	x := &r.Rows[row]
	x.Time, x.BesideCopy = times(x.Time, by), times(x.BesideCopy, by)
	for i := range x.Peers {
		if p := &x.Peers[i]; p.Ratio != nil {
			*p.Ratio = times(*p.Ratio, 1/by)
		}
	}
	return r
}

func TestSince(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(r *bench.Result)
		want   []string
	}{
		{"nothing", func(*bench.Result) {}, nil},
		{"an extra pass", func(r *bench.Result) { slowed(r, 0, 1.3) },
			[]string{"scale model_step through torch, 1 thread: 1.30 times as long as before, beside the copy; 1.30 beside fast"}},
		{"without a peer", func(r *bench.Result) { slowed(r, 1, 1.1) },
			[]string{"gather<b> model_step through torch, 2 threads: 1.10 times as long as before, beside the copy"}},
		{"within spreads and margin", func(r *bench.Result) { slowed(r, 0, 1.08); slowed(r, 1, 1.06) }, nil},
		{"faster", func(r *bench.Result) { slowed(r, 0, 0.5) }, nil},
		{"the worst comes first", func(r *bench.Result) { slowed(r, 0, 1.3); slowed(r, 1, 2) }, []string{
			"gather<b> model_step through torch, 2 threads: 2.00 times as long as before, beside the copy",
			"scale model_step through torch, 1 thread: 1.30 times as long as before, beside the copy; 1.30 beside fast",
		}},
		{"the copy alone says so: a cache was faster, and the peers as well", func(r *bench.Result) {
			before := *r.Rows[0].Peers[1].Ratio
			slowed(r, 0, 1.5)
			r.Rows[0].Peers[1].Ratio = &before
		}, nil},
		{"the peer is gone", func(r *bench.Result) {
			slowed(r, 0, 1.5)
			r.Rows[0].Peers = nil
		}, []string{"scale model_step through torch, 1 thread: 1.50 times as long as before, beside the copy"}},
		{"another peer was in both", func(r *bench.Result) {
			slowed(r, 0, 1.5)
			r.Rows[0].Peers = r.Rows[0].Peers[:1]
		}, []string{"scale model_step through torch, 1 thread: 1.50 times as long as before, beside the copy; 1.50 beside slow|one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := sample()
			c.change(now)
			compared := now.Since(sample())
			var got []string
			for _, x := range compared.Worse() {
				got = append(got, x.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if compared.OtherMachine || len(compared.Changes) != 2 {
				t.Errorf("got %+v", compared)
			}
		})
	}
}

// What a run was not about is not gone.
func TestSinceOthers(t *testing.T) {
	old, now := sample(), sample()
	old.Rows = append(old.Rows, old.Rows[0], old.Rows[0])
	old.Rows[2].Workload, old.Rows[3].Op = "another", "other_op"
	now.Machine.CPUs = 64
	compared := now.Since(old)
	if !compared.OtherMachine || len(compared.Gone) != 1 || compared.Gone[0].Workload != "another" {
		t.Errorf("got %+v", compared)
	}
}

// A row that was slow once is not slow; one that stays so is.
func TestConfirm(t *testing.T) {
	now := slowed(slowed(sample(), 0, 1.5), 1, 1.5)
	again := slowed(slowed(sample(), 0, 1.01), 1, 1.6)
	now.Confirm(again, sample())
	worse := now.Since(sample()).Worse()
	if len(worse) != 1 || worse[0].Op != "gather<b>" || worse[0].Copy > 1.51 {
		t.Errorf("got %v", worse)
	}
	if now.Rows[0].Time != again.Rows[0].Time || len(now.Rows) != 2 {
		t.Errorf("got %+v", now.Rows)
	}
	// A second run with wide spreads is not slower, though its median is higher.
	now, again = slowed(sample(), 0, 1.5), slowed(sample(), 0, 1.6)
	again.Rows[0].BesideCopy.Low = sample().Rows[0].BesideCopy.Low
	if now.Confirm(again, sample()); len(now.Since(sample()).Worse()) != 0 {
		t.Errorf("got %v", now.Since(sample()).Worse())
	}
}

// What no run has written is refused, not compared.
func TestReadRefusesOddRows(t *testing.T) {
	for name, row := range map[string]string{
		"no copy":       `{"op":"f","peers":[]}`,
		"a ratio alone": `{"op":"f","beside_copy":{"low":1,"median":1,"high":1},"peers":[{"name":"a","ratio":{"low":1,"median":1,"high":1}}]}`,
		"upside down":   `{"op":"f","beside_copy":{"low":3,"median":2,"high":1}}`,
	} {
		path := filepath.Join(t.TempDir(), "old.json")
		if err := os.WriteFile(path, []byte(`{"schema":1,"rows":[`+row+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := bench.Read(path); !errors.Is(err, bench.ErrNoResult) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
