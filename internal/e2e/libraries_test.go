package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/opcast/opcast/internal/build/compiler"
	"github.com/opcast/opcast/internal/results/report"
	"github.com/opcast/opcast/internal/system/elfcheck"
)

// A kernel that calls a library of others takes calls where the library is found, and says what it needs elsewhere. The suite
// finds nothing wrong with either kernel of the example.
func TestKernelOfAnotherLibrary(t *testing.T) {
	const where = "from importlib import util; found = util.find_spec('scipy_openblas32'); print(found.origin if found else '')"
	origin := strings.TrimSpace(run(t, command(t, root(t), python(t), "-P", "-c", where)))
	if origin == "" {
		t.Skip("the environment has no scipy-openblas32: make build installs it")
	}
	dir, interpreter := exampleProject(t, "openblas"), borrowed(t)
	mustOpcast(t, "-C", dir, "build", "--python", interpreter)
	for _, tt := range []struct{ name, library, kernel, explained string }{
		{"found", filepath.Join(filepath.Dir(origin), "lib", "libscipy_openblas.so"), "matmul_openblas", "matmul_openblas  on cpu  yes"},
		{"not found", "libnobody_has_this.so", "matmul_plain", "this machine lacks OpenBLAS, whose path LINALG_OPENBLAS can give: libnobody_has_this.so: "},
		{"another library", "libm.so.6", "matmul_plain", "this machine lacks OpenBLAS of scipy-openblas32: LINALG_OPENBLAS names another library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LINALG_OPENBLAS", tt.library)
			text, _ := mustOpcast(t, "-C", dir, "explain", "matmul", "--shape", "a=64x32:f32", "--shape", "b=32x16", "--python", interpreter)
			if !strings.Contains(text, tt.explained) {
				t.Errorf("want %q in\n%s", tt.explained, text)
			}
			folder := t.TempDir()
			code, stdout, stderr := opcast(t, "-C", dir, "test", "--fast", "--python", interpreter, "--report", folder)
			r, err := report.Read(filepath.Join(folder, report.File))
			if err != nil || code != 0 {
				t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
			}
			ran := map[string]bool{}
			for _, errors := range r.ULPs {
				ran[errors.Kernel] = true
			}
			if !ran[tt.kernel] {
				t.Errorf("kernels that ran: %v, want %s", ran, tt.kernel)
			}
		})
	}
}

// A kernel of templates from headers that a wheel brings. docs/kernels.md shows parts of this project.
const cutlass = `
-- opcast.toml --
name = "demo"
version = "0.1.0"
license = "Apache-2.0"
adaptors = ["numpy"]
devices = ["cpu", "cuda"]
sources = ["csrc/cpu/*.cc", "csrc/cuda/*.cu"]

[headers.cutlass]
pip = "nvidia-cutlass"
include = "cutlass_library/source/include"

[cuda]
arch = ["80", "90"]
-- opdefs/linear.toml --
doc = "Product with a transposed right-hand side, and a bias."
kind = 0
dtypes = { T = ["f16", "bf16"] }
inputs = [
  { name = "a",    type = "T[M, K]", doc = "Left matrix." },
  { name = "b",    type = "T[N, K]", doc = "Right matrix, one row per output column." },
  { name = "bias", type = "T[N]",    doc = "Added to every row." },
]
outputs = [{ name = "c", type = "T[M, N]", doc = "a @ b.T + bias." }]
reference = "return a @ b.T + bias"
parallel = ["M", "N"]

[[kernels]]
name = "linear_cutlass"
device = "cuda"
arch = ">=80"
compilers = ["nvcc"]
when = "0 < K and K < 2**31 and N < 2**31 and M < 2**31 and K % 8 == 0 and N % 8 == 0 and aligned(a, 16) and aligned(b, 16) and aligned(bias, 16) and aligned(c, 16)"

[[kernels]]
name = "linear_simt"
device = "cuda"

[[kernels]]
name = "linear"
device = "cpu"
-- csrc/cpu/linear.cc --
#include "linear.gen.h"

opcast::Status demo_ops::Linear(const LinearArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.M, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * a.N; i < end * a.N; ++i) {
        double sum = static_cast<float>(a.bias[i % a.N]);
        for (int64_t k = 0; k < a.K; ++k)
          sum += double{static_cast<float>(a.a[i / a.N * a.K + k])} *
                 static_cast<float>(a.b[i % a.N * a.K + k]);
        a.c[i] = T(static_cast<float>(sum));
      }
    });
    return opcast::Status::Ok();
  });
}
-- csrc/cuda/linear_simt.cu --
#include "linear.gen.h"
#include "opcast/device.h"

namespace demo_ops {
namespace {

// A thread has an element.
template <class T>
__global__ void LinearKernel(T* c, const T* a, const T* b, const T* bias, int64_t m, int64_t n,
                             int64_t k) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < m * n;
       i += int64_t{gridDim.x} * blockDim.x) {
    float sum = static_cast<float>(bias[i % n]);
    for (int64_t j = 0; j < k; ++j)
      sum += static_cast<float>(a[i / n * k + j]) * static_cast<float>(b[i % n * k + j]);
    c[i] = T(sum);
  }
}

}  // namespace

opcast::Status LinearSimt(const LinearArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return opcast::Start(LinearKernel<T>, opcast::Blocks((a.M * a.N + 255) / 256), 256, 0, launch,
                         a.c, a.a, a.b, a.bias, a.M, a.N, a.K);
  });
}

}  // namespace demo_ops
-- csrc/cuda/linear_cutlass.cu --
#include <cutlass/gemm/device/gemm.h>

#include "linear.gen.h"

namespace demo_ops {
namespace {

// c = a @ b.T + bias of rows, with sums of float in an order that depends on K alone.
template <class T>
opcast::Status Multiply(const LinearArgs& args, const opcast::Launch& launch) {
  using Gemm =
      cutlass::gemm::device::Gemm<T, cutlass::layout::RowMajor, T, cutlass::layout::ColumnMajor, T,
                                  cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp,
                                  cutlass::arch::Sm80, cutlass::gemm::GemmShape<128, 128, 32>,
                                  cutlass::gemm::GemmShape<64, 64, 32>,
                                  cutlass::gemm::GemmShape<16, 8, 16>,
                                  cutlass::epilogue::thread::LinearCombination<T, 8, float, float>,
                                  cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 4>;
  const auto at = [](const void* p) { return static_cast<T*>(const_cast<void*>(p)); };
  const auto size = [](int64_t n) { return static_cast<int>(n); };
  const typename Gemm::Arguments call({size(args.M), size(args.N), size(args.K)},
                                      {at(args.a), args.K}, {at(args.b), args.K},
                                      {at(args.bias), 0}, {at(args.c), args.N}, {1.0f, 1.0f});
  const cutlass::Status status = Gemm()(call, nullptr, static_cast<cudaStream_t>(launch.stream));
  if (status == cutlass::Status::kSuccess) return opcast::Status::Ok();
  return opcast::Status::Error(cutlass::cutlassGetStatusString(status));
}

}  // namespace

opcast::Status LinearCutlass(const LinearArgs& args, const opcast::Launch& launch) {
  return args.T == opcast::DType::kF16 ? Multiply<cutlass::half_t>(args, launch)
                                       : Multiply<cutlass::bfloat16_t>(args, launch);
}

}  // namespace demo_ops
`

// The kernel is compiled for both architectures (with -short, for one) and does not disturb the kernel for the CPU, which the suite runs.
func TestKernelOfCUTLASS(t *testing.T) {
	const where = "from importlib import util; print(util.find_spec('cutlass_library') is not None)"
	if found := strings.TrimSpace(run(t, command(t, root(t), python(t), "-P", "-c", where))); found != "True" {
		t.Skip("the environment has no nvidia-cutlass: make cuda installs it")
	}
	want := []string{"sm_80", "sm_90"}
	if testing.Short() { // one takes half a minute
		want = want[1:]
		t.Setenv(compiler.ArchVariable, "90")
	} else {
		t.Setenv(compiler.ArchVariable, "")
	}
	dir, interpreter := t.TempDir(), borrowed(t)
	unpack(t, dir, cutlass)
	mustOpcast(t, "-C", dir, "build", "--device", "cpu,cuda", "--python", interpreter)
	library := filepath.Join(dir, "build/release/libdemo.so")
	code, err := elfcheck.DeviceCode(library)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, code); diff != "" {
		t.Errorf("code in the library (-want +got):\n%s", diff)
	}
	if !strings.Contains(string(read(t, library)), "cutlass") {
		t.Error("no kernel of the library is one of CUTLASS")
	}
	mustOpcast(t, "-C", dir, "test", "--fast", "--no-build", "--python", interpreter)
}

// exampleProject lays out a project of the examples without what was built in it.
func exampleProject(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	for _, part := range []string{"opcast.toml", "opdefs", "csrc"} {
		source := filepath.Join(root(t), "examples", name, part)
		if info, err := os.Stat(source); err != nil {
			t.Fatal(err)
		} else if !info.IsDir() {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, part), text)
			continue
		}
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
