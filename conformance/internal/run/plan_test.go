package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/testkit/fake"
)

// What runs follows from the options alone: no process starts.
func TestPlan(t *testing.T) {
	only := filepath.Join(t.TempDir(), "only")
	if err := os.WriteFile(only, []byte("affine backend value\nnorm torch *\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Options)
		// started are the callers to start, cells what runs through whom.
		started, cells string
		err            error
	}{
		"one op": {
			func(o *Options) { o.Ops = []string{"affine"} }, "backend native op_call torch",
			"affine:definition affine:backend affine:native affine:op_call affine:torch", nil,
		},
		"one adaptor": {
			func(o *Options) { o.Ops, o.Adaptors = []string{"affine"}, []string{"torch"} }, "backend torch",
			"affine:definition affine:torch", nil,
		},
		"fast": {
			func(o *Options) { o.Ops, o.Profile = []string{"affine"}, check.ProfileFast }, "backend torch",
			"affine:definition affine:backend affine:torch", nil,
		},
		"only": {func(o *Options) { o.Only = only }, "backend native op_call torch", "affine:backend norm:torch", nil},
		"a function": {
			func(o *Options) { o.Callables = []Callable{{"numpy", "affine", "m:f"}} }, "numpy", "affine:definition affine:numpy", nil,
		},
		"a shard": {
			func(o *Options) { o.Ops, o.Shard = []string{"affine"}, "2/3" }, "backend native op_call torch", "affine:backend affine:torch", nil,
		},
		"an op that is not there":      {func(o *Options) { o.Ops = []string{"afine"} }, "", "", ErrUnknown},
		"an adaptor that is not there": {func(o *Options) { o.Adaptors = []string{"jax"} }, "", "", ErrUnknown},
		"nothing":                      {func(o *Options) { o.Only, o.Ops, o.Adaptors = only, []string{"affine"}, []string{"torch"} }, "", "", ErrUsage},
		"no last run":                  {func(o *Options) { o.LastFailed, o.ReportDir = true, t.TempDir() }, "", "", ErrUsage},
	} {
		t.Run(name, func(t *testing.T) {
			project := *fake.Toy(t)
			project.Manifest.Adaptors = []string{"torch"}
			o := Options{Subject: Subject{Project: &project}}
			test.change(&o)
			p, err := plan(o)
			if test.err != nil {
				if !errors.Is(err, test.err) {
					t.Errorf("got %v, want %v", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var cells []string
			for _, c := range p.Cells {
				cells = append(cells, c.Op.Name+":"+c.Caller)
			}
			if got := strings.Join(cells, " "); got != test.cells {
				t.Errorf("got %s, want %s", got, test.cells)
			}
			if got := strings.Join(p.callers, " "); got != test.started {
				t.Errorf("starts %s, want %s", got, test.started)
			}
		})
	}
}
