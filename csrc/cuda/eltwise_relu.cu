// y = max(x, 0), dense. Exact; NaN stays NaN.
#include "eltwise_relu.gen.h"
#include "map.h"

namespace opcast_ops {
namespace {

struct Relu {
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[1], T (&out)[1]) {
    const float value = static_cast<float>(in[0]);
    out[0] = static_cast<T>(value < 0 ? 0.0f : value);
  }
};

}  // namespace

opcast::Status EltwiseReluCuda(const EltwiseReluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return Map<Relu>(MapArrays<T, 1, 1>{{a.y}, {a.x}, a.batch}, launch);
  });
}

}  // namespace opcast_ops
