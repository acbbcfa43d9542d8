// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float as gate * value / (1 +
// exp(-gate)) and rounded once; elements for which a part of that leaves the range of floats,
// although the result need not, are computed in double.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gate_rows.h"
#include "cpu/lib/sigmoid_gates.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {
namespace {

struct Silu {
  template <class T>
  static constexpr bool kAlwaysWide = false;

  // The float form has no infinity that the result does not have.
  template <class T>
  static bool IsOrdinary(float gate, float value) {
    return (gate > -87) & (__builtin_fabsf(gate * value) <= std::numeric_limits<float>::max());
  }

  // gate * value * sigmoid(gate) to 3.5 ulp.
  template <int kWidth, class T>
  static float Of(float gate, float value) {
    constexpr float kEnd = 87;
    const float x = Select(gate > kEnd, -kEnd, -gate);
    if constexpr (!std::is_same_v<T, float>) {
      const auto parts = SplitPower<kWidth>(x * kLog2E);
      return gate * value / Fma<kWidth>(parts.template Fraction<kWidth>(), PowerOfTwo(parts.n), 1);
    }
    return gate * value / OnePlusExp<kWidth>(x);
  }

  // The same for all numbers.
  template <int kWidth>
  static double Wide(double gate, double value) {
    return gate * Sigmoid<kWidth>(gate) * value;
  }
};

}  // namespace

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRows<Silu>(a, launch); });
}

}  // namespace opcast_ops
