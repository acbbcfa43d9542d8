// What the kernels of swigluoai_and_mul and of its gradient share: pairs of a gate and a value that
// stand in turn (see common/swigluoai.h). Computed in float: float32 within 4 units in the last
// place, with an argument of the sigmoid that has two parts, 16 bits by gates_16_bits.h.
#pragma once

#include "common/swigluoai.h"
#include "cuda/lib/gates.h"
#include "cuda/lib/gates_16_bits.h"
#include "cuda/lib/row_kernels.h"

namespace opcast_ops {

// alpha * x, of which more than 200 is 200.
struct Argument {
  float number;
  Pair magnitude;

  OPCAST_DEVICE Argument(Pair alpha, float x) {
    const Pair product = Multiply(alpha, {x, 0});
    number = product.high;
    const float sign = number < 0 ? -1 : 1;
    magnitude = {fabsf(number), sign * product.low};
    if (magnitude.high > 200) magnitude = {200, 0};
  }

  // x, but 0 where its product with the sigmoid is 0 all the same; infinity times 0 is NaN.
  OPCAST_DEVICE float Nearby(float x) const {
    return x < -kLargest ? NAN : number < -190 ? -0.0f : x;
  }
};

// What a kernel knows of all pairs.
struct LimitedGates {
  Limits limits;
  Pair alpha;

  LimitedGates(double limit, double alpha) : limits(limit), alpha(PairOf(alpha)) {}

  // x * sigmoid(alpha * x) * other for results of T.
  template <class T>
  OPCAST_DEVICE float GatedTimes(float x, float other) const {
    const Argument argument(alpha, x);
    const float nearby = argument.Nearby(x);
    if constexpr (sizeof(T) == 2)
      return ShortLogistic::Times(nearby, argument.number, kLargest).Times(other);
    const Pair a = argument.magnitude;
    return TimesGate(nearby, Logistic::Part(a.high, a.low)).Times(other);
  }
};

// The pairs of a vector of results: two vectors' worth of numbers.
template <class T>
struct PairsOf {
  Floats<T> gates, values;

  template <bool kWhole>
  OPCAST_DEVICE void Load(const T* row, int64_t begin, int64_t n) {
    constexpr int kSize = Vector<T>::kSize;
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int64_t at = 2 * begin + half * kSize;
      const Floats<T> some = Widen(opcast_ops::Load<kWhole>(row, at, 2 * n));
      OPCAST_UNROLL
      for (int e = 0; e < kSize / 2; ++e) {
        gates.at[half * kSize / 2 + e] = some.at[2 * e];
        values.at[half * kSize / 2 + e] = some.at[2 * e + 1];
      }
    }
  }

  template <bool kWhole>
  OPCAST_DEVICE void Store(T* row, int64_t begin, int64_t n) const {
    constexpr int kSize = Vector<T>::kSize;
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      Floats<T> some;
      OPCAST_UNROLL
      for (int e = 0; e < kSize / 2; ++e) {
        some.at[2 * e] = gates.at[half * kSize / 2 + e];
        some.at[2 * e + 1] = values.at[half * kSize / 2 + e];
      }
      opcast_ops::Store<kWhole>(Narrow(some), row, 2 * begin + half * kSize, 2 * n);
    }
  }
};

}  // namespace opcast_ops
