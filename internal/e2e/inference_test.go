package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/report"
)

// TestInferenceTypes: type checkers have nothing to say against what is generated, in their strictest mode. The collection has
// what ours has not: attributes that choose dims, names that leave no room on a line.
func TestInferenceTypes(t *testing.T) {
	t.Parallel()
	dir := exampleProject(t, "inference")
	mustOpcast(t, "-C", dir, "gen")
	write(t, filepath.Join(dir, "pyrightconfig.json"), []byte(`{
  "include": ["adaptors", "backend/python"],
  "extraPaths": ["backend/python/src", "adaptors/torch/src", "adaptors/jax/src", "adaptors/cupy/src", "adaptors/numpy/src", "adaptors/paddle/src"],
  "pythonVersion": "3.11",
  "typeCheckingMode": "strict"
}`))
	pyright := filepath.Join(filepath.Dir(python(t)), "pyright")
	if out, err := command(t, dir, pyright, "--pythonpath", python(t)).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// onlyThere are the ops of the collection that show what no op of this repository's own shows; TestDerivatives tries the others.
var (
	onlyThere = strings.Fields("adam_step add_rms_norm cache_nvfp4 cap_scores decode_plan decode_run dequantize_int4 dequantize_mxfp4 dequantize_mxfp8 " +
		"dequantize_nvfp4 gated_add gated_add_backward gemm_int4 gemm_mxfp4 gemm_mxfp8 gemm_nvfp4 hadamard hadamard_backward merge_states quantize_int4 quantize_mxfp4 " +
		"quantize_mxfp8 quantize_nvfp4 rotary_complex rotary_complex_backward scale_all section_sum select_rows shift_tokens")
	others = strings.Fields("swiglu swiglu_backward swiglu_forward swiglu_backward_forward swiglu_backward_backward")
)

// plannedCalls is what planned_calls.py prints: each step has the right results three times, and plans of other sizes are refused.
const plannedCalls = `True True True
True True True
True True True
True True True
True True True
1 graph, 1 trace
decode_run: owners: expected dimension 0 to be 7 (B = 3 of q, pieces = 4), got shape [6]
decode_run: owners: expected dimension 0 to be 7 (B = 3 of q, pieces = 4), got shape [8]
`

// complexNumbers is what complex_numbers.py prints: results and gradients are those of each framework's own formula.
const complexNumbers = `True
True
True
True
True
True
rotary_complex: x: expected dtype complex64 or complex128, got float32
rotary_complex: freqs_cis: expected dtype complex128 (as x), got complex64
rotary_complex: y: expected plain memory, got a lazily conjugated view
`

// TestInference builds the collection with the commands that its README gives, and expects the suite to find nothing wrong
// with those of its ops that are like no other, in any framework; a short run has four of them, and one that runs alone.
func TestInference(t *testing.T) {
	t.Parallel()
	dir, interpreter, ops := exampleProject(t, "inference"), borrowed(t), slices.Concat(onlyThere, others)
	if testing.Short() {
		ops = strings.Fields("cache_nvfp4 cap_scores rotary_complex shift_tokens")
		called := strings.Fields("rotary_complex_backward merge_states decode_plan decode_run dequantize_int4 dequantize_mxfp4 dequantize_nvfp4 gemm_nvfp4 quantize_int4 quantize_mxfp4 quantize_nvfp4")
		keepOps(t, dir, append(ops, called...), "opdefs/*", "csrc/cpu/*.cc")
	}
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	if out := run(t, command(t, dir, interpreter, filepath.Join(root(t), "internal/e2e/planned_calls.py"))); out != plannedCalls {
		t.Errorf("calls with a plan: printed %q", out)
	}
	if out := run(t, command(t, dir, interpreter, filepath.Join(root(t), "internal/e2e/codes.py"))); strings.Count(out, "True\n") != 13 || strings.Contains(out, "False") {
		t.Errorf("codes: printed %q", out)
	}
	if out := run(t, command(t, dir, interpreter, filepath.Join(root(t), "internal/e2e/complex_numbers.py"))); out != complexNumbers {
		t.Errorf("complex numbers: printed %q", out)
	}
	// PyTorch's compiler takes minutes on a busy machine.
	words := []string{"-C", dir, "test", "--spread", "--timeout", "2m", "--python", interpreter, "--report", filepath.Join(dir, "report")}
	code, stdout, stderr := opcast(t, append(words, ops...)...)
	r, err := report.Read(filepath.Join(dir, "report", "report.json"))
	if err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	passed := map[string]int{}
	for _, one := range r.Results {
		if one.Status.Bad() {
			t.Errorf("%s %s %s %s: %s", one.Op, one.Adaptor, one.Check, one.DType, one.Reason)
		}
		if one.Status == report.Pass {
			passed[one.Adaptor]++
		}
	}
	for _, adaptor := range []string{"torch", "jax", "numpy", "paddle", "backend", "native"} {
		if passed[adaptor] < 10*len(ops) {
			t.Errorf("%s: only %d results of %d ops passed", adaptor, passed[adaptor], len(ops))
		}
	}
	// PaddlePaddle has no tensors of the dtype of its scales: no failure of the op.
	mustOpcast(t, "-C", dir, "test", "--no-build", "--profile", "fast", "--adaptor", "paddle", "--python", interpreter, "quantize_mxfp4")
	mustOpcast(t, "-C", dir, "run", "merge_states", "--workload", "llama_8b_decode", "--python", interpreter, "--repeat", "1")
}
