// grad_x = grad_y * slope(x), dense; the slope of gelu's exact ("none") or tanh form. Computed in
// float, within 4 units in the last place also around the slope's zero near -0.75.
//
// Registers: at most 56.
// sass: allows call in MapKernel: precision, as the head of this file says
// sass: allows narrow in MapKernel: arrays whose rows are not aligned
#include "cuda/lib/gates.h"
#include "cuda/lib/map_elements.h"
#include "gelu_backward.gen.h"

namespace opcast_ops {
namespace {

template <class Gate>
struct GeluBackwardOf {
  template <class>
  using Result = float;
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[2], float (&out)[1]) {
    const float x = static_cast<float>(in[1]);
    const Scaled slope = SlopeOf(x, Gate::Slope(fabsf(x)));
    out[0] = slope.Times(static_cast<float>(in[0]));
  }
};

}  // namespace

opcast::Status GeluBackwardCuda(const GeluBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const MapArrays<T, 1, 2> arrays{{a.grad_x}, {a.grad_y, a.x}, a.batch};
    return a.approximate == GeluBackwardApproximate::kTanh
               ? Map<GeluBackwardOf<CubicLogistic>>(arrays, launch)
               : Map<GeluBackwardOf<Normal>>(arrays, launch);
  });
}

}  // namespace opcast_ops
