// A peer of the overhead benchmark: rms_norm bound to JAX by hand, as JAX's documentation says,
// with a handler of XLA's FFI. It calls the function that the collection's library exports, so that
// only what surrounds the call differs.
#include <tvm/ffi/c_api.h>
#include <xla/ffi/api/ffi.h>

namespace {

namespace ffi = xla::ffi;

TVMFFISafeCallType kernel = nullptr;

TVMFFIAny Pass(DLTensor& t) {
  TVMFFIAny any{};
  any.type_index = kTVMFFIDLTensorPtr;
  any.v_ptr = &t;
  return any;
}

template <class Buffer>
DLTensor View(Buffer& b) {
  const auto sizes = b.dimensions();
  // No strides: what XLA passes is dense.
  return {b.untyped_data(),
          {kDLCPU, 0},
          static_cast<int32_t>(sizes.size()),
          {kDLFloat, 32, 1},
          const_cast<int64_t*>(sizes.begin()),
          nullptr,
          0};
}

ffi::Error RmsNorm(double eps, ffi::Buffer<ffi::F32> x, ffi::Buffer<ffi::F32> weight,
                   ffi::ResultBuffer<ffi::F32> y) {
  if (weight.dimensions().size() != 1 || x.dimensions().back() != weight.dimensions()[0]) {
    return ffi::Error::InvalidArgument("expected a weight for each column");
  }
  DLTensor views[] = {View(*y), View(x), View(weight)};
  TVMFFIAny args[] = {Pass(views[0]), Pass(views[1]), Pass(views[2]), {}};
  args[3].type_index = kTVMFFIFloat;
  args[3].v_float64 = eps;
  TVMFFIAny result{};
  if (kernel(nullptr, args, 4, &result) != 0) return ffi::Error::Internal("rms_norm failed");
  return ffi::Error::Success();
}

}  // namespace

XLA_FFI_DEFINE_HANDLER_SYMBOL(opcast_bench_rms_norm, RmsNorm,
                              ffi::Ffi::Bind()
                                  .Attr<double>("eps")
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

extern "C" void opcast_bench_bind(void* address) {
  kernel = reinterpret_cast<TVMFFISafeCallType>(address);
}
