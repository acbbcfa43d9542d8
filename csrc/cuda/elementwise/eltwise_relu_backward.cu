// grad_x = grad_y, or 0 where y <= 0, dense. Bit for bit; where y is NaN the gradient passes.
//
// Registers: at most 32.
// sass: allows narrow in MapKernel: arrays whose rows are not aligned
#include "cuda/lib/map_elements.h"
#include "eltwise_relu_backward.gen.h"

namespace opcast_ops {
namespace {

struct ReluBackward {
  template <class T>
  using Result = T;
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[2], T (&out)[1]) {
    out[0] = static_cast<float>(in[1]) <= 0 ? static_cast<T>(0.0f) : in[0];
  }
};

}  // namespace

opcast::Status EltwiseReluBackwardCuda(const EltwiseReluBackwardArgs& args,
                                       const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return Map<ReluBackward>(MapArrays<T, 1, 2>{{a.grad_x}, {a.grad_y, a.y}, a.batch}, launch);
  });
}

}  // namespace opcast_ops
