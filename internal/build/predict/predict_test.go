package predict

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/backend"
	"github.com/opcast/opcast/internal/build/sass"
	"github.com/opcast/opcast/internal/results/bench"
)

func TestReadRecord(t *testing.T) {
	const text = "memory 10000 256\nmemory 20000 0\nfill 10000 64\n" +
		"launch _Z3fooPf 2 3 1 128 1 1 2 1 1 512 100ff 10100 20000 7\ncopy 10000 20000 8\n"
	got, err := ReadRecord(text)
	want := []Launch{
		{Bytes: 64},
		{Kernel: "_Z3fooPf", Grid: [3]int{2, 3, 1}, Block: [3]int{128, 1, 1}, Cluster: [3]int{2, 1, 1}, Shared: 512, Arrays: []int{0, 1}},
		{Bytes: 8},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got[1].Blocks() != 6 || got[1].Threads() != 128 {
		t.Errorf("%d blocks of %d threads", got[1].Blocks(), got[1].Threads())
	}
	for _, bad := range []string{"launch _Z3fooPf 2 3 1 128 1 1 2 1 1 x", "memory x 1", "fill 1 x", "what", "launch _Z3fooPf 2"} {
		if _, err := ReadRecord(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// streaming is a kernel with a loop that reads and writes 16 bytes in some instructions.
func streaming(instructions int) *sass.Function {
	mix := sass.Mix{Instructions: instructions, Memory: map[string]int{"LDG.128": 1, "STG.128": 1}, LoadBytes: 16, StoreBytes: 16, LSU: 8}
	return &sass.Function{
		Kernel: sass.Kernel{Name: "_Z3fooPf", Registers: 32}, Once: sass.Mix{Instructions: 20}, All: mix,
		Loops: []sass.Loop{{Begin: 16, End: 160, Depth: 1, Parent: -1, Mix: mix, All: mix, Hot: true}},
	}
}

func testChip(t *testing.T) Chip {
	t.Helper()
	chip, known := ChipNamed("h100")
	if !known {
		t.Fatal("no h100")
	}
	return chip
}

// A loop of few instructions waits for memory, one of many for the issue of instructions. Computed by hand: 64 MiB in and out are
// 2^27 bytes at 3000 bytes per ns; 2^21 / 16 / 32 × 32 iterations of a warp at 4 × 132 × 1.98 instructions per ns.
func TestBound(t *testing.T) {
	const bytes = 64 << 20
	chip := testChip(t)
	call := &Call{
		Arrays:   []Array{{Bytes: bytes, Reads: true}, {Bytes: bytes, Written: true}},
		Launches: []Launch{{Kernel: "_Z3fooPf", Grid: [3]int{132 * 8, 1, 1}, Block: [3]int{256, 1, 1}, Arrays: []int{0, 1}}},
		Elements: bytes / 2,
	}
	for instructions, want := range map[int]struct {
		bound string
		time  float64
	}{
		40:   {"hbm", 2 * bytes / 3000.0},
		1000: {"issue", (bytes/16/32*1000 + 132*8*8*20) / (4 * 132 * 1.98)},
	} {
		row, err := chip.Predict(call, map[string]*sass.Function{"_Z3fooPf": streaming(instructions)})
		if err != nil {
			t.Fatal(err)
		}
		if row.Bound != want.bound || math.Abs(row.Time/want.time-1) > 1e-9 {
			t.Errorf("%d instructions: bound by %s, %.1f ns, want %s, %.1f", instructions, row.Bound, row.Time, want.bound, want.time)
		}
		if per := float64(instructions) / 8; math.Abs(row.PerElement/per-1) > 0.05 { // with what runs once
			t.Errorf("%d instructions: %.2f for an element, want about %.2f", instructions, row.PerElement, per)
		}
	}
	if _, err := chip.Predict(call, nil); err == nil || !strings.Contains(err.Error(), "no machine code of foo") {
		t.Errorf("without code: %v", err)
	}
}

// Few blocks leave multiprocessors idle, a loop with matrix instructions runs until the operations are done, and a second launch
// finds small arrays in the cache.
func TestShapes(t *testing.T) {
	chip := testChip(t)
	few := Launch{Kernel: "_Z3fooPf", Grid: [3]int{33, 1, 1}, Block: [3]int{256, 1, 1}}
	many := few
	many.Grid[0] = 132
	f, w := streaming(1000), Work{Loads: 1 << 24, Stores: 1 << 24}
	if slow, fast := chip.Of(f, &few, w, 0).Times["issue"], chip.Of(f, &many, w, 0).Times["issue"]; math.Abs(slow/fast-4) > 0.01 {
		t.Errorf("33 blocks take %.3f times as long as 132, want 4", slow/fast)
	}
	tensor := streaming(100)
	tensor.Loops[0].Mix.TensorFlops, tensor.Loops[0].Mix.Tensor = 4096, 1
	const flops = 1e12
	if got, want := chip.Of(tensor, &many, Work{Flops: flops}, 0).Times["tensor"], flops/chip.WarpMMA/chip.Tensor; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("%.0f ns for matrix products, want %.0f", got, want)
	}
	twice := &Call{
		Arrays:   []Array{{Bytes: 1 << 20, Reads: true}, {Bytes: 1 << 20}},
		Launches: []Launch{{Kernel: "_Z3fooPf", Arrays: []int{0, 1}}, {Kernel: "_Z3fooPf", Arrays: []int{1}}},
	}
	touched := map[int]bool{}
	if w, cold := twice.work(&twice.Launches[0], touched, &chip); w != (Work{Loads: 1 << 20, Stores: 1 << 20}) || cold != 2<<20 {
		t.Errorf("first launch: %+v, %.0f from memory", w, cold)
	}
	touched[0], touched[1] = true, true
	if w, cold := twice.work(&twice.Launches[1], touched, &chip); w != (Work{Loads: 1 << 20}) || cold != 0 {
		t.Errorf("second launch: %+v, %.0f from memory", w, cold)
	}
}

// Loops that do what vectors leave, and those for arrays that are not aligned, do not count.
func TestOtherLoops(t *testing.T) {
	f := streaming(40)
	narrow := sass.Mix{Instructions: 40, Memory: map[string]int{"LDG.16": 1, "STG.16": 1}, LoadBytes: 2, StoreBytes: 2}
	rest := sass.Loop{Begin: 200, End: 300, Depth: 1, Parent: -1, Mix: narrow, All: narrow, Hot: true}
	w := Work{Loads: 1 << 24, Stores: 1 << 24}
	alone := runs(f, w, 100).instructions
	f.Loops = append(f.Loops, rest)
	if got := runs(f, w, 100).instructions; got != alone {
		t.Errorf("with a loop for numbers that are not aligned: %.0f instructions, want %.0f", got, alone)
	}
	f.Loops = f.Loops[1:]
	if got := runs(f, w, 100).instructions; got <= alone {
		t.Errorf("with that loop alone: %.0f instructions, want more than %.0f", got, alone)
	}
}

func TestOccupancy(t *testing.T) {
	chip := testChip(t)
	for name, tt := range map[string]struct {
		registers, threads, shared, want int
	}{
		"threads":   {32, 1024, 0, 2},
		"registers": {255, 256, 0, 1},
		"shared":    {32, 128, 100 << 10, 2},
		"blocks":    {16, 32, 0, 32},
	} {
		f := &sass.Function{Kernel: sass.Kernel{Registers: tt.registers}}
		if got := occupancy(&chip, f, &Launch{Block: [3]int{tt.threads, 1, 1}, Shared: tt.shared}); got != tt.want {
			t.Errorf("%s: %d blocks, want %d", name, got, tt.want)
		}
	}
}

// The table shows what was measured beside what was predicted, and the file has a line for each row.
func TestTable(t *testing.T) {
	table := &Table{GPU: "h100", Arch: "sm_90", LeftOut: []string{"other: why"}, Rows: []Row{{
		Op: "scale", Workload: "step", DType: "bf16", Variant: "scale_cuda", Time: 2000, Bound: "hbm", Roofline: 0.5, PerElement: 12.345,
		Launches: 1, Flags: []string{"fp64"}, Estimates: []Estimate{{Kernel: "Foo", Time: 2000, Bound: "hbm", Registers: 32, Occupancy: 0.5, Waves: 2, InFlight: 4096}},
	}}}
	measured := &bench.Result{Rows: []bench.Row{
		{Key: bench.Key{Op: "scale", Workload: "step", DType: "bf16", Caller: "torch"}, Time: bench.Spread{Median: 3000}},
		{Key: bench.Key{Op: "scale", Workload: "step", DType: "bf16", Caller: "jax"}, Time: bench.Spread{Median: 9000}},
	}}
	var got bytes.Buffer
	if err := table.Write(&got, measured, true); err != nil {
		t.Fatal(err)
	}
	const want = `op     workload  dtype  kernel      predicted  measured  ratio  bound  roofline  per element  launches  flags
scale  step      bf16   scale_cuda  2.00 µs    3.00 µs   1.50   hbm    50%       12.3         1         fp64
  Foo                               2.00 µs                     hbm                                     32 registers, 50% of threads, 2 waves, 4 KiB in flight
predictions for h100 from code for sm_90
left out: other: why
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const file = `{
  "gpu": "h100",
  "arch": "sm_90",
  "rows": [
    {"op":"scale","workload":"step","dtype":"bf16","variant":"scale_cuda","time_ns":2000,"bound":"hbm","roofline":0.5,"instructions_per_element":12.3,"launches":1,"flags":["fp64"]}
  ],
  "left_out": [
    "other: why"
  ]
}
`
	if diff := cmp.Diff(file, string(table.JSON())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A program that launches as compiled CUDA code does, linked with the recorder: what it writes is read.
func TestRecorder(t *testing.T) {
	chip, dir := testChip(t), t.TempDir()
	source := filepath.Join(dir, "kernels.cc")
	if err := os.WriteFile(source, []byte(launching), 0o644); err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(dir, "a b.o")
	cxx := os.Getenv("CXX")
	if cxx == "" {
		cxx = "c++"
	}
	if out, err := exec.Command("sh", "-c", cxx+` -std=c++17 -fPIC -c "$1" -o "$2"`, "sh", source, object).CombinedOutput(); err != nil {
		t.Skipf("no compiler: %v\n%s", err, out)
	}
	var talk strings.Builder
	r, err := NewRecorder(t.Context(), dir, Parts{
		Source: backend.Recorder, Objects: []string{object}, Compiler: strings.Fields(cxx), Link: "-ldl", Stderr: &talk,
	}, &chip)
	if err != nil {
		t.Fatal(err, talk.String())
	}
	cubins := []sass.Cubin{{Kernels: []sass.Kernel{{Name: "_Z3fooPfl", Parameters: []int{8, 8}}}}, {Kernels: []sass.Kernel{{Name: "_Z3fooPfl", Parameters: []int{8, 8}}}}}
	if err := r.Know(cubins); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "program")
	command := cxx + ` -std=c++17 -x c++ - -o "$1" -ldl`
	build := exec.Command("sh", "-c", command, "sh", program)
	build.Stdin = strings.NewReader(calling)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := exec.Command(program, r.Library)
	run.Env = append(os.Environ(), r.Environ("")...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, err := r.Launches()
	want := []Launch{
		{Kernel: "_Z3fooPfl", Grid: [3]int{132, 1, 1}, Block: [3]int{90, 1, 1}, Cluster: [3]int{1, 1, 1}, Shared: 16, Arrays: []int{1}},
		{Bytes: 100},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// launching registers and launches a kernel as nvcc's code does: as many blocks as the device has multiprocessors, and threads as its
// architecture says.
const launching = `
#include <cstddef>
struct Dim3 { unsigned x, y, z; };
extern "C" {
int __cudaGetKernel(const void**, const void*);
int __cudaLaunchKernel(const void*, Dim3, Dim3, void**, std::size_t, void*);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
int cudaDeviceGetAttribute(int*, int, int);
int cudaMemsetAsync(void*, int, std::size_t, void*);
}
static char foo;
extern "C" __attribute__((visibility("default"))) void Run(float* memory) {
  __cudaRegisterFunction(nullptr, &foo, &foo, "_Z3fooPfl", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  const void* kernel = nullptr;
  int sms = 0, major = 0;
  long n = 7;
  cudaDeviceGetAttribute(&sms, 16, 0);
  cudaDeviceGetAttribute(&major, 75, 0);
  void* parameters[] = {&memory, &n};
  __cudaGetKernel(&kernel, &foo);
  __cudaLaunchKernel(kernel, {unsigned(sms), 1, 1}, {unsigned(10 * major), 1, 1}, parameters, 16, nullptr);
  cudaMemsetAsync(memory, 0, 100, nullptr);
}
`

// calling allocates two arrays by what stands for CUDA's driver, and has the library launch with the second.
const calling = `
#include <dlfcn.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
int main(int, char** argv) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  void* library = dlopen(argv[1], RTLD_NOW);
  if (driver == nullptr || library == nullptr) return std::puts(dlerror()), 1;
  auto* allocate = reinterpret_cast<int (*)(uintptr_t*, std::size_t)>(dlsym(driver, "cuMemAlloc_v2"));
  uintptr_t first = 0, second = 0;
  allocate(&first, std::size_t{1} << 40);
  allocate(&second, 4096);
  reinterpret_cast<void (*)(float*)>(dlsym(library, "Run"))(reinterpret_cast<float*>(second));
}
`
