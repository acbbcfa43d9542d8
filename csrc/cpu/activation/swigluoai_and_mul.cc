// y[i, j] = (value + 1) * gate * sigmoid(alpha * gate), where the gate is x[i, 2j], but at most
// limit, and the value x[i, 2j + 1], but at most limit away from 0: the activation of gpt-oss, as
// vLLM's swigluoai_and_mul computes it. Dense rows.
//
// Computed in float, where the sigmoid's argument has two parts, and rounded once; elements for
// which a part of that leaves the range of floats, although the result need not, are computed in
// double.
#include "cpu/lib/standard_headers.h"

#include "common/swigluoai.h"
#include "cpu/activation/gate_rows.h"
#include "cpu/activation/interleaved_pairs.h"
#include "cpu/lib/exp.h"
#include "swigluoai_and_mul.gen.h"

namespace opcast_ops {
namespace {

struct Swigluoai {
  double limit, alpha;
  Limits limits;
  TwoFloats parts;  // of alpha

  Swigluoai(double limit, double alpha) : limit(limit), alpha(alpha), limits(limit), parts(alpha) {}

  template <class T>
  static constexpr bool kAlwaysWide = false;

  template <class T>
  bool IsOrdinary(float gate, float value) const {
    constexpr float kEnd = 87, kMost = std::numeric_limits<float>::max();
    const float g = limits.Gate(gate);
    return (__builtin_fabsf(g * parts.high) < kEnd) &
           (__builtin_fabsf(g * limits.OnePlusValue(value)) <= kMost);
  }

  // To 3.3 ulp.
  template <int kWidth, class T>
  float Of(float gate, float value) const {
    const float g = limits.Gate(gate), x = -g * parts.high;
    const float product = g * limits.OnePlusValue(value);
    if constexpr (!std::is_same_v<T, float>) {
      const auto power = SplitPower<kWidth>(x * kLog2E);
      return product / Fma<kWidth>(power.template Fraction<kWidth>(), PowerOfTwo(power.n), 1);
    }
    const float low = Fma<kWidth>(-g, parts.low, Fma<kWidth>(-g, parts.high, -x));
    return product / OnePlusExp<kWidth>(SplitExp<kWidth>(x, low));
  }

  template <int kWidth>
  double Wide(double gate, double value) const {
    const double g = Select(gate > limit, limit, gate);
    const double below = Select(value > limit, limit, value);
    return (Select(below < -limit, -limit, below) + 1) * (g * Sigmoid<kWidth>(alpha * g));
  }
};

}  // namespace

opcast::Status SwigluoaiAndMul(const SwigluoaiAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Swigluoai form(a.limit, a.alpha);
    const auto rows = [&a, form](int64_t begin, int64_t end, auto width) {
      // Rows lie one after the other, so that their pairs are those of one row.
      const T* x = a.x + begin * 2 * a.D;
      T* y = a.y + begin * a.D;
      ForPairs((end - begin) * a.D, [=](int64_t i, int64_t count) {
        T halves[2 * kPairs];
        PartNeighbours(x + 2 * i, count, halves);
        GateRow<width>(form, halves, halves + count, count, y + i);
      });
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(a.D), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
