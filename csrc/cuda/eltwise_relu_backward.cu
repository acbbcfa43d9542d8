// grad_x = grad_y, or 0 where y <= 0, dense. Bit for bit; where y is NaN the gradient passes.
#include "eltwise_relu_backward.gen.h"
#include "map.h"

namespace ops {
namespace {

struct ReluBackward {
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[2], T (&out)[1]) {
    out[0] = static_cast<float>(in[1]) <= 0 ? static_cast<T>(0.0f) : in[0];
  }
};

}  // namespace

opcast::Status EltwiseReluBackwardCuda(const EltwiseReluBackwardArgs& args,
                                       const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const T* grad_y = static_cast<const T*>(args.grad_y);
    const T* y = static_cast<const T*>(args.y);
    return Map<ReluBackward>(
        MapArrays<T, 1, 2>{{static_cast<T*>(args.grad_x)}, {grad_y, y}, args.batch}, launch);
  });
}

}  // namespace ops
