// y = max(x, 0), dense. Exact; NaN stays NaN.
//
// Registers: at most 32.
// sass: allows narrow in MapKernel: arrays whose rows are not aligned
#include "cuda/lib/map_elements.h"
#include "eltwise_relu.gen.h"

namespace opcast_ops {
namespace {

struct Relu {
  template <class>
  using Result = float;
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[1], float (&out)[1]) {
    const float value = static_cast<float>(in[0]);
    out[0] = value < 0 ? 0 : value;
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
