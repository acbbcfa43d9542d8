package run

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/conformance/internal/calls"
	"github.com/opcast/opcast/conformance/internal/check"
	"github.com/opcast/opcast/conformance/internal/checks/transforms"
	"github.com/opcast/opcast/conformance/internal/worker"
	"github.com/opcast/opcast/internal/language/opdef"
	"github.com/opcast/opcast/internal/language/opdef/load"
)

// changedFramework is a real framework whose answers are changed. It asks for each transformation once.
type changedFramework struct {
	*worker.Process
	memory map[string]*calls.Transformed
	change func(x *calls.Transformation, r *calls.Transformed)
}

func (m *changedFramework) Transform(ctx context.Context, x *calls.Transformation) (*calls.Transformed, error) {
	body, blobs := calls.TransformRequest(x)
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	key := string(text) + string(bytes.Join(blobs, nil))
	if m.memory[key] == nil {
		r, err := m.Process.Transform(ctx, x)
		if err != nil {
			return nil, err
		}
		m.memory[key] = r
	}
	r := clone(m.memory[key])
	if m.change != nil && r.Unsupported == "" {
		m.change(x, r)
	}
	return r, nil
}

// clone copies an answer so that it can be changed.
func clone(r *calls.Transformed) *calls.Transformed {
	out := *r
	out.Calls = slices.Clone(r.Calls)
	for i := range out.Calls {
		out.Calls[i].Launches = maps.Clone(r.Calls[i].Launches)
		out.Calls[i].Outputs = slices.Clone(r.Calls[i].Outputs)
		for k, o := range out.Calls[i].Outputs {
			if o.Array != nil {
				a := *o.Array
				a.Data = bytes.Clone(a.Data)
				out.Calls[i].Outputs[k].Array = &a
			}
		}
	}
	return &out
}

// plantedTransform lists changes that each check must find, in the calls of an op with a gradient and a sum.
var plantedTransform = map[string]map[string][]change{
	"torch": {
		"jit":                {off(0, 0), off(1, -1), launch, told("costs", constant([]int{1, 1})), told("costs", constant([]int{0, 0}))},
		"inductor":           {off(1, 0), launch},
		"dynamic":            {off(2, 0), off(2, -1), told("costs", constant([]int{1, 0, 1}))},
		"export":             {off(2, 0), told("graph", without("opcast."))},
		"vmap":               {off(0, 0), launch, reshaped},
		"vmap-nested":        {off(0, 0), launch},
		"vmap-empty":         {launch, reshaped},
		"grad":               {off(0, 0), off(0, 1), off(0, -1), launch},
		"grad-some":          {off(0, -1)},
		"grad-cotangents":    {off(0, -1), launch},
		"grad-functional":    {off(0, -1)},
		"grad-empty":         {off(0, -1), launch, reshaped},
		"grad-second":        {off(0, 0), silent(1), reworded, reclassed},
		"forward-mode":       {silent(0), silent(3), reworded, reclassed},
		"vmap-of-grad":       {off(0, 0), off(0, -1), reshaped},
		"grad-of-vmap":       {off(0, 0), reshaped},
		"checkpoint":         {off(0, 0), off(1, -1), launch},
		"checkpoint-saved":   {off(0, 0), off(0, -1), launch},
		"jacobian":           {off(0, 0), off(0, -1)},
		"functional-call":    {off(0, -1)},
		"abstract":           {off(0, 0), restrided, moved, reshaped, launch},
		"dispatch-modes":     {told("forward", without("opcast.")), told("gradient", without("_backward"))},
		"opcheck":            {told("opcheck", outcome("wrong")), told("opcheck", constant(map[string]any{}))},
		"profile":            {off(0, 0), told("events", without("opcast::rms_norm\"")), told("events", without("_backward")), told("events", constant([]any{[]any{"opcast::rms_norm", []any{}}, []any{"opcast::rms_norm_backward", []any{}}}))},
		"autocast":           {off(0, 0), off(0, -1)},
		"transformed-errors": {silent(0), silent(3), reworded, reclassed},
		"dtensor": {
			off(0, 0), told("placements", constant([]any{[]any{"R"}, []any{"R"}, []any{"R"}})),
			told("forward", constant(map[string]int{"all_gather": 1})), told("backward", constant(map[string]int{"all_reduce": 1})),
		},
	},
	"jax": {
		"jit":                {off(0, 0), off(1, -1), launch, told("costs", constant([]int{1, 1}))},
		"dynamic":            {off(2, 0), off(2, -1), told("types", constant([]string{"float32[13, 3, 5]"}))},
		"export":             {off(0, 0), off(0, -1), told("types", constant([]string{"float16[13, 3, 5]"}))},
		"vmap":               {off(0, 0), launch},
		"grad":               {off(0, -1), launch},
		"scan":               {off(0, 0), off(1, 0)},
		"x64":                {off(0, 0), off(1, -1), silent(2), reworded},
		"abstract":           {reshaped},
		"forward-mode":       {silent(5), reworded},
		"transformed-errors": {silent(0), reworded, reclassed},
		"sharding": {
			off(0, 0), told("hlo", longer("x = f32[8] all-gather(y)")), told("hlo", longer(strings.Repeat("all-reduce(", 3))),
			told("hlo", constant([]string{""})), told("shards", wholeShards),
		},
		"sharding-explicit": {off(0, 0), told("hlo", longer("all-gather-start(")), told("shards", wholeShards)},
		"sharding-2d":       {off(0, 0), told("hlo", longer("collective-permute("))},
		"sharding-gathered": {off(0, 0)},
		"sharding-uneven":   {off(0, 0)},
		"shard-map":         {off(0, 0), negative(1)},
	},
}

// The real workers of the repository's collection.
func realRunner(t *testing.T) *Runner {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	project, findings, err := load.Load(root)
	if err != nil || len(findings) > 0 {
		t.Fatal(err, findings)
	}
	interpreter := os.Getenv("OPCAST_TEST_PYTHON")
	if interpreter == "" {
		interpreter = filepath.Join(root, ".venv", "bin", "python")
	}
	names := []string{calls.BackendName, "jax", "torch"}
	options := Options{Subject: Subject{Project: project}, Scope: Scope{Adaptors: names}, Effort: Effort{Python: interpreter}}
	pool := NewPool(options)
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := pool.Open(t.Context(), names)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each check passes with a real framework and fails when its answers are changed.
func TestPlantedTransformErrors(t *testing.T) {
	s := realRunner(t)
	op := s.Env.Project.Ops[slices.IndexFunc(s.Env.Project.Ops, func(o *opdef.Op) bool { return o.Name == "rms_norm" })]
	for framework, list := range plantedTransform {
		real, _ := s.Env.Caller(framework).(*worker.Process)
		m := &changedFramework{Process: real, memory: map[string]*calls.Transformed{}}
		left := maps.Clone(list)
		for _, check := range Checks() {
			if changes, ok := list[check.ID]; ok {
				delete(left, check.ID)
				t.Run(framework+"/"+check.ID, func(t *testing.T) { plant(t, s, op, m, &check, changes) })
			}
		}
		for id := range left {
			t.Errorf("%s: there is no check %s", framework, id)
		}
	}
}

// flopsCheck is about an op with flops, which that of the other tests need not have.
const flopsCheck = "flops"

// An op whose definition and that of whose gradient have flops: what a counter leaves out, and what it counts wrong, is found.
func TestPlantedFlops(t *testing.T) {
	s := realRunner(t)
	op := s.Env.Project.Ops[slices.IndexFunc(s.Env.Project.Ops, func(o *opdef.Op) bool { return o.Flops != nil && o.Gradient != nil && o.Gradient.Flops != nil })]
	real, _ := s.Env.Caller("torch").(*worker.Process)
	m := &changedFramework{Process: real, memory: map[string]*calls.Transformed{}}
	checks := transforms.Checks()
	flops := checks[slices.IndexFunc(checks, func(c check.Check) bool { return c.ID == flopsCheck })]
	name, gradient := "opcast."+op.Name, "opcast."+op.Gradient.Name
	plant(t, s, op, m, &flops, []change{
		off(0, 0), off(0, -1), told("flops", constant(map[string]int64{})), told("flops", constant(map[string]int64{name: 1, gradient: 1})),
		told("flops", func(v any) any {
			counted, _ := v.(map[string]any)
			delete(counted, gradient)
			return counted
		}),
	})
}

// plant runs a check without and with each change.
func plant(t *testing.T, s *Runner, op *opdef.Op, m *changedFramework, check *check.Check, changes []change) {
	t.Helper()
	m.change = nil
	for _, r := range s.run(t.Context(), op, m, check) {
		if r.Status != "pass" {
			t.Fatalf("unchanged: %s: %s", r.Status, r.Reason)
		}
	}
	for i, c := range changes {
		m.change = c
		if worst := worstOf(s.run(t.Context(), op, m, check)); worst.Status != "fail" {
			t.Errorf("change %d: %s: %s", i, worst.Status, worst.Reason)
		}
	}
}

// A check without a planted error might be unable to fail. Those about places have theirs among plantedPlaces.
func TestEveryTransformCheckIsPlanted(t *testing.T) {
	placed := map[string]bool{flopsCheck: true} // see TestPlantedFlops
	for _, planted := range plantedPlaces {
		placed[planted.check] = true
	}
	for _, check := range transforms.Checks() {
		if len(plantedTransform["torch"][check.ID])+len(plantedTransform["jax"][check.ID]) == 0 && !placed[check.ID] {
			t.Errorf("%s has no planted error", check.ID)
		}
	}
}
