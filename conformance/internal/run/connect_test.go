package run

import (
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/worker"
)

// A library without kernels for the device under test, or another device than the emulated one, ends the run: its checks would be
// about something else.
func TestLacks(t *testing.T) {
	for name, test := range map[string]struct {
		device, driver, hardware string
		built                    []string
		want                     string
	}{
		"the host":          {"cpu", "", "", []string{"cuda"}, ""},
		"a GPU":             {"cuda:0", "", "H100", []string{"cpu", "cuda"}, ""},
		"another vendor":    {"rocm:0", "", "MI300", []string{"cpu", "cuda"}, "rocm cannot be tested here: the library has kernels for cpu and cuda only"},
		"an emulated one":   {"rocm:0", "driver", "emulated gfx90a", []string{"rocm"}, ""},
		"no emulated one":   {"rocm:0", "driver", "MI300", []string{"rocm"}, "there is no driver in driver"},
		"a driver, the CPU": {"cpu", "driver", "", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(test.device, ":")
			o := Options{Subject: Subject{Driver: test.driver, Device: kind}}
			r := &worker.Process{CallerName: calls.BackendName, WorkerInfo: calls.WorkerInfo{Built: test.built, Hardware: test.hardware}}
			err := lacks(o, nil, r)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
