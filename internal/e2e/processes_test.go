package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is what processes.py prints.
type step struct {
	Devices   int
	Loss      float64
	Outputs   []float64
	Gradients [][]float64
	Gathers   int
	// Hits and Misses count what JAX looked up in its persistent cache while it compiled the step.
	Hits, Misses int
}

// processes runs the step in so many processes at once and returns what each printed.
func processes(t *testing.T, count, devices int, cache string) []step {
	t.Helper()
	address := freeAddress(t)
	out := make([]step, count)
	var wait sync.WaitGroup
	for rank := range count {
		config, err := json.Marshal(map[string]any{
			"devices": devices, "processes": count, "rank": rank, "address": address, "cache": cache,
		})
		if err != nil {
			t.Fatal(err)
		}
		cmd := command(t, root(t), python(t), filepath.Join("internal", "e2e", "processes.py"), string(config))
		var stderr strings.Builder
		cmd.Stderr = &stderr
		wait.Go(func() {
			text, err := cmd.Output()
			if err == nil {
				lines := bytes.Split(bytes.TrimSpace(text), []byte("\n")) // gloo prints, too
				err = json.Unmarshal(lines[len(lines)-1], &out[rank])
			}
			if err != nil {
				t.Errorf("process %d of %d: %v\n%s%s", rank, count, err, text, stderr.String())
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return out
}

// freeAddress is one at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// near reports whether all numbers agree but for the order of sums.
func near(a, b []float64) error {
	if len(a) != len(b) {
		return fmt.Errorf("%d numbers, want %d", len(a), len(b))
	}
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= 1e-6*(1+math.Abs(b[i]))) {
			return fmt.Errorf("number %d is %v, want %v", i, a[i], b[i])
		}
	}
	return nil
}

// A step on four devices is the same in one process and in two.
func TestTwoProcessesAgreeWithOne(t *testing.T) {
	t.Parallel()
	one := processes(t, 1, 1, "")[0]
	for _, got := range processes(t, 2, 2, "") {
		if got.Devices != 4 || got.Gathers != 0 {
			t.Errorf("%d devices and %d all-gathers, want 4 and 0", got.Devices, got.Gathers)
		}
		if diff := cmp.Diff(one.Outputs, got.Outputs); diff != "" {
			t.Errorf("outputs (-one +two):\n%s", diff)
		}
		if err := near([]float64{got.Loss}, []float64{one.Loss}); err != nil {
			t.Error("loss:", err)
		}
		for i := range one.Gradients {
			if err := near(got.Gradients[i], one.Gradients[i]); err != nil {
				t.Errorf("gradient %d: %v", i, err)
			}
		}
	}
}

// A second process finds a program for one device in the persistent cache. One for several devices is compiled anew: its
// partitioning rules are Python functions, which no other process has. The numbers are right in any case.
func TestPersistentCache(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ devices, hits, misses int }{{1, 1, 0}, {2, 0, 1}} {
		cache := t.TempDir()
		first, second := processes(t, 1, test.devices, cache)[0], processes(t, 1, test.devices, cache)[0]
		if first.Hits != 0 || first.Misses != 1 {
			t.Errorf("%d devices: the first process had %d hits and %d misses, want 0 and 1", test.devices, first.Hits, first.Misses)
		}
		if second.Hits != test.hits || second.Misses != test.misses {
			t.Errorf("%d devices: the second process had %d hits and %d misses, want %d and %d",
				test.devices, second.Hits, second.Misses, test.hits, test.misses)
		}
		if diff := cmp.Diff(first.Outputs, second.Outputs); diff != "" {
			t.Errorf("%d devices: outputs (-first +second):\n%s", test.devices, diff)
		}
	}
}
