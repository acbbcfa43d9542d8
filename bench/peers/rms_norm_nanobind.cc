// A peer of the overhead benchmark: rms_norm bound by hand with nanobind, as its documentation says
// for arrays of any framework. It calls the function that the collection's library exports, so that
// only what surrounds the call differs; the result is given, as for the bare call of tvm-ffi.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <tvm/ffi/c_api.h>

#include <stdexcept>

namespace nb = nanobind;

namespace {

using Rows = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Input = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Weight = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

TVMFFISafeCallType kernel = nullptr;

template <class Array>
DLTensor View(const Array& a) {
  return {const_cast<float*>(a.data()),
          {kDLCPU, 0},
          static_cast<int32_t>(a.ndim()),
          {kDLFloat, 32, 1},
          const_cast<int64_t*>(a.shape_ptr()),
          const_cast<int64_t*>(a.stride_ptr()),
          0};
}

TVMFFIAny Pass(DLTensor& t) {
  TVMFFIAny any{};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &t;
  return any;
}

void RmsNorm(const Rows& y, const Input& x, const Weight& weight, double eps) {
  DLTensor views[] = {View(y), View(x), View(weight)};
  TVMFFIAny args[] = {Pass(views[0]), Pass(views[1]), Pass(views[2]), {}};
  args[3].type_index = kTVMFFIFloat;
  args[3].v_float64 = eps;
  TVMFFIAny result{};
  if (kernel(nullptr, args, 4, &result) != 0) throw std::runtime_error("rms_norm failed");
}

}  // namespace

NB_MODULE(opcast_bench_nanobind, m) {
  m.def("bind", [](uintptr_t address) { kernel = reinterpret_cast<TVMFFISafeCallType>(address); });
  m.def("rms_norm", &RmsNorm, nb::arg("y"), nb::arg("x"), nb::arg("weight"), nb::arg("eps") = 1e-6);
}
