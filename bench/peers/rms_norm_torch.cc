// Peers of the overhead benchmark: rms_norm bound to PyTorch by hand, as PyTorch's documentation
// says, once with TORCH_LIBRARY and once with pybind11. They call the function that the
// collection's library exports, so that only what surrounds the call differs.
#include <ATen/ops/empty_like.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/library.h>
#include <tvm/ffi/c_api.h>

namespace {

TVMFFISafeCallType kernel = nullptr;

DLTensor View(const at::Tensor& t) {
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

void Call(const at::Tensor& y, const at::Tensor& x, const at::Tensor& weight, double eps) {
  DLTensor views[] = {View(y), View(x), View(weight)};
  TVMFFIAny args[] = {Pass(views[0]), Pass(views[1]), Pass(views[2]), {}};
  args[3].type_index = kTVMFFIFloat;
  args[3].v_float64 = eps;
  TVMFFIAny result{};
  TORCH_CHECK(kernel(nullptr, args, 4, &result) == 0, "rms_norm failed");
}

at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1 && weight.size(0) == x.size(-1));
  TORCH_CHECK(x.dtype() == at::kFloat && weight.dtype() == at::kFloat);
  TORCH_INTERNAL_ASSERT(x.device().type() == at::kCPU && weight.device().type() == at::kCPU);
  const at::Tensor dense_x = x.contiguous();
  const at::Tensor dense_weight = weight.contiguous();
  at::Tensor y = at::empty_like(dense_x);
  Call(y, dense_x, dense_weight, eps);
  return y;
}

// Calls the exported function many times, to tell its own time from the overhead of the bindings.
void Repeat(const at::Tensor& y, const at::Tensor& x, const at::Tensor& weight, int64_t times) {
  for (int64_t i = 0; i < times; ++i) Call(y, x, weight, 1e-6);
}

}  // namespace

TORCH_LIBRARY(opcast_bench, m) {
  m.def("rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor");
}

TORCH_LIBRARY_IMPL(opcast_bench, CPU, m) { m.impl("rms_norm", &RmsNorm); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("bind", [](uintptr_t address) { kernel = reinterpret_cast<TVMFFISafeCallType>(address); });
  m.def("rms_norm", &RmsNorm, pybind11::arg("x"), pybind11::arg("weight"),
        pybind11::arg("eps") = 1e-6);
  m.def("repeat", &Repeat);
}
