// y = x * G(x), dense; G is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float, within 4 units in the last place also in the negative tail.
#include "gates.h"
#include "gelu.gen.h"
#include "map.h"

namespace opcast_ops {
namespace {

template <class Gate>
struct GeluOf {
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[1], T (&out)[1]) {
    const float x = static_cast<float>(in[0]);
    out[0] = static_cast<T>(Gated(x, Gate::Part(fabsf(x))).Value());
  }
};

}  // namespace

opcast::Status GeluCuda(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const MapArrays<T, 1, 1> arrays{{a.y}, {a.x}, a.batch};
    return a.approximate == GeluApproximate::kTanh ? Map<GeluOf<CubicLogistic>>(arrays, launch)
                                                   : Map<GeluOf<Normal>>(arrays, launch);
  });
}

}  // namespace opcast_ops
