// A peer of the overhead benchmark: rms_norm bound to PyTorch by hand with its stable ABI, as
// PyTorch's documentation says. It calls the function that the collection's library exports, so
// that only what surrounds the call differs.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>
#include <tvm/ffi/c_api.h>

namespace {

using torch::stable::Tensor;

TVMFFISafeCallType kernel = nullptr;

DLTensor View(const Tensor& t) {
  return {t.data_ptr(),
          {kDLCPU, 0},
          static_cast<int32_t>(t.dim()),
          {kDLFloat, 32, 1},
          const_cast<int64_t*>(t.sizes().data()),
          const_cast<int64_t*>(t.strides().data()),
          0};
}

TVMFFIAny Pass(DLTensor& t) {
  TVMFFIAny any{};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &t;
  return any;
}

Tensor RmsNorm(const Tensor& x, const Tensor& weight, double eps) {
  constexpr auto kFloat = torch::headeronly::ScalarType::Float;
  STD_TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1 && weight.size(0) == x.size(x.dim() - 1));
  STD_TORCH_CHECK(x.scalar_type() == kFloat && weight.scalar_type() == kFloat);
  const Tensor dense_x = torch::stable::contiguous(x);
  const Tensor dense_weight = torch::stable::contiguous(weight);
  Tensor y = torch::stable::empty_like(dense_x);
  DLTensor views[] = {View(y), View(dense_x), View(dense_weight)};
  TVMFFIAny args[] = {Pass(views[0]), Pass(views[1]), Pass(views[2]), {}};
  args[3].type_index = kTVMFFIFloat;
  args[3].v_float64 = eps;
  TVMFFIAny result{};
  STD_TORCH_CHECK(kernel(nullptr, args, 4, &result) == 0, "rms_norm failed");
  return y;
}

}  // namespace

STABLE_TORCH_LIBRARY(opcast_bench_stable, m) {
  m.def("rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor");
}

STABLE_TORCH_LIBRARY_IMPL(opcast_bench_stable, CPU, m) { m.impl("rms_norm", TORCH_BOX(&RmsNorm)); }

extern "C" void opcast_bench_bind(void* address) {
  kernel = reinterpret_cast<TVMFFISafeCallType>(address);
}
