// y[i, j] = silu(x[i, j]) * x[i, D + j], dense rows. Computed in float as gate * value / (1 +
// exp(-gate)) and rounded once; elements for which a part of that leaves the range of floats,
// although the result need not, are computed in double.
#include "gate.h"
#include "map.h"
#include "rows.h"
#include "silu_and_mul.gen.h"

namespace opcast_ops {
namespace {

// Where the float form holds: it has no infinity that the result does not have.
inline bool IsOrdinary(float gate, float value) {
  return (gate > -87) & (__builtin_fabsf(gate * value) <= std::numeric_limits<float>::max());
}

// gate * value * sigmoid(gate) where IsOrdinary, to 3.5 ulp; kShort: for results of 16 bits.
template <int kWidth, bool kShort>
inline float Gate(float gate, float value) {
  constexpr float kEnd = 87;
  const float x = Select(gate > kEnd, -kEnd, -gate);
  if constexpr (kShort) {
    const auto parts = SplitPower<kWidth>(x * kLog2E);
    return gate * value / Fma<kWidth>(parts.template Fraction<kWidth>(), PowerOfTwo(parts.n), 1);
  }
  return gate * value / OnePlusExp<kWidth>(x);
}

// The same for all numbers.
template <int kWidth>
inline double WideGate(double gate, double value) {
  return gate * Sigmoid<kWidth>(gate) * value;
}

template <int kWidth, class T>
inline void Row(const T* gates, const T* values, int64_t n, T* y) {
  constexpr bool kShort = !std::is_same_v<T, float>;
  const auto ordinary = [](float gate, float value) { return Gate<kWidth, kShort>(gate, value); };
  MapEither<kWidth>(n, ordinary, IsOrdinary, WideGate<kWidth>, y, gates, values);
}

}  // namespace

opcast::Status SiluAndMul(const SiluAndMulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        const auto* gates = a.x + i * 2 * n;
        Row<width>(gates, gates + n, n, a.y + i * n);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
