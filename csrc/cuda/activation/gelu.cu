// y = x * G(x), dense; G is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float: for results of float32 within 4 units in the last place also in the
// negative tail, for those of 16 bits as gates_16_bits.h has it.
//
// Registers: at most 40.
// sass: allows call in MapKernel: precision, as the head of this file says
// sass: allows narrow in MapKernel: arrays whose rows are not aligned
#include "cuda/lib/gates.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/map_elements.h"
#include "gelu.gen.h"

namespace opcast_ops {
namespace {

template <class Gate, class ShortGate>
struct GeluOf {
  template <class>
  using Result = float;
  template <class T>
  OPCAST_DEVICE static void Of(const T (&in)[1], float (&out)[1]) {
    const float x = static_cast<float>(in[0]);
    if constexpr (sizeof(T) == 2)
      out[0] = ShortGate::Of(x).Value();
    else
      out[0] = Gated(x, Gate::Part(fabsf(x))).Value();
  }
};

}  // namespace

opcast::Status GeluCuda(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const MapArrays<T, 1, 1> arrays{{a.y}, {a.x}, a.batch};
    return a.approximate == GeluApproximate::kTanh
               ? Map<GeluOf<CubicLogistic, ShortCubicLogistic>>(arrays, launch)
               : Map<GeluOf<Normal, ShortNormal>>(arrays, launch);
  });
}

}  // namespace opcast_ops
