package bench_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/opcast/opcast/internal/results/bench"
)

// onGPU has a row that memory limits, one that products limit, and one of which neither is known.
func onGPU() *bench.Result {
	row := func(op string, bytes, flops *int64) bench.Row {
		return bench.Row{
			Key: bench.Key{Op: op, Workload: "w", DType: "bf16 i64", Caller: "torch", Threads: 1, Device: "cuda"}, Time: spread(1000, 0),
			Copy: spread(4000, 0), BesideCopy: spread(1, 0), Bytes: bytes, Flops: flops,
			OnGPU: bench.OnGPU{Peak: pointer(spread(800_000, 0)), Host: pointer(spread(9000, 0))},
		}
	}
	return &bench.Result{Schema: bench.Schema, Rows: []bench.Row{
		row("softmax", pointer(int64(3_000_000)), nil), row("gemm", pointer(int64(1000)), pointer(int64(600_000_000))), row("look_up", nil, nil),
	}}
}

func TestGPUTable(t *testing.T) {
	var text bytes.Buffer
	if err := onGPU().WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"op workload dtype caller ratio beside time spread GB/s of copy TFLOP/s of product host",
		"softmax w bf16 i64 torch - - 1.00 µs 1.00-1.00 µs 3000 75 % - - 9.00 µs",
		"gemm w bf16 i64 torch - - 1.00 µs 1.00-1.00 µs 1.00 0.025 % 600 75 % 9.00 µs",
		"look_up w bf16 i64 torch - - 1.00 µs 1.00-1.00 µs - - - - 9.00 µs",
	} {
		if got := strings.Join(strings.Fields(strings.Split(text.String(), "\n")[i]), " "); got != want {
			t.Errorf("line %d: got %s, want %s", i, got, want)
		}
	}
	if got, want := onGPU().Rows[0].String(), "softmax w through torch, on cuda"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What the hardware permits is what the copy or the product reaches: budgets find the part of it by the device's name.
func TestGPUFigures(t *testing.T) {
	var got []string
	for _, f := range onGPU().AllFigures() {
		got = append(got, f.Name+" "+f.String())
	}
	want := []string{"cuda/roof/softmax/w/bf16+i64/torch 0.75", "cuda/roof/gemm/w/bf16+i64/torch 0.75"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Each row is a line of the file, and what is read is what was written.
func TestGPUFile(t *testing.T) {
	text, err := onGPU().JSON()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(string(text), "\n"); !strings.HasPrefix(lines[slices.Index(lines, `  "rows": [`)+2], `    {"op":"gemm"`) {
		t.Errorf("got\n%s", text)
	}
	again, err := bench.Parse("file", text)
	if err != nil {
		t.Fatal(err)
	}
	if share, known := again.Rows[1].Roof(); share != 0.75 || !known {
		t.Errorf("got a part of %v, %v", share, known)
	}
}
