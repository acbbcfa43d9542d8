// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in float for results of 16 bits; for float32, the exponential
// is a float and what follows is double. Rounded once. Rows in which a part of that leaves the
// range of floats are computed in double.
#include "gate.h"
#include "rows.h"
#include "silu_and_mul_backward.gen.h"
#include "step.h"

namespace opcast_ops {
namespace {

constexpr float kLeast = -80;  // of gates for the forms in float

// Both gradients of one element.
struct Pair {
  float gate, value;
};

// Where the forms in float hold: no part of them is infinite, or NaN.
inline bool IsOrdinary(float grad, float gate, float value) {
  constexpr float kMost = std::numeric_limits<float>::max();
  return (gate >= kLeast) & (__builtin_fabsf(grad * value) <= kMost) &
         (__builtin_fabsf(grad * gate) <= kMost);
}

// With e = exp(-gate), silu' is (1 + e * (1 + gate)) / (1 + e)^2.
template <int kWidth>
inline Pair Short(float grad, float gate, float value) {
  const float x = Select(gate > -kLeast, -kLeast, gate);
  const auto parts = SplitNearPower<kWidth>(-kLog2E * x);
  const float e = parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
  const float sigmoid = 1 / (1 + e);
  const float slope = sigmoid * (sigmoid * Fma<kWidth>(e, 1 + x, 1));
  return {grad * value * slope, grad * (gate * sigmoid)};
}

template <int kWidth>
inline Pair Long(double grad, double gate, double value) {
  const double sigmoid = Sigmoid<kWidth>(gate);
  return {static_cast<float>(grad * value * SiluSlope(gate, sigmoid)),
          static_cast<float>(grad * (gate * sigmoid))};
}

// Both gradients of a row in float, and whether all its elements are ordinary.
template <int kWidth, class T>
inline bool InFloat(const T* grad, const T* gate, int64_t n, T* to) {
  using S = Step<kWidth, T>;
  int32_t broken[S::kLanes] = {};
  ForParts<S::kCount>(n, [&](int64_t i, auto count) {
    S g, x, v;
    g.Load(grad + i, count);
    x.Load(gate + i, count);
    v.Load(gate + n + i, count);
    for (int k = 0; k < S::kVectors; ++k) {
      for (int j = 0; j < S::kLanes; ++j) {
        float &a = g.vectors[k].numbers[j], &b = x.vectors[k].numbers[j];
        const float c = v.vectors[k].numbers[j];
        broken[j] |= !IsOrdinary(a, b, c);
        const Pair both = Short<kWidth>(a, b, c);
        a = both.gate, b = both.value;
      }
    }
    g.Store(to + i, count);
    x.Store(to + n + i, count);
  });
  return NoneOf(broken);
}

template <int kWidth, class T>
inline void InDouble(const T* grad, const T* gate, int64_t n, T* to) {
  ForLanes<kWidth>(n, [&](int64_t i, auto count) {
    auto g = LoadSome<kWidth>(grad + i, count), x = LoadSome<kWidth>(gate + i, count);
    const auto v = LoadSome<kWidth>(gate + n + i, count);
    for (int j = 0; j < Lanes<kWidth>::kCount; ++j) {
      const Pair both = Long<kWidth>(g.numbers[j], x.numbers[j], v.numbers[j]);
      g.numbers[j] = both.gate, x.numbers[j] = both.value;
    }
    g.StoreSome(to + i, count);
    x.StoreSome(to + n + i, count);
  });
}

}  // namespace

opcast::Status SiluAndMulBackward(const SiluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        const auto *grad = a.grad_y + i * n, *x = a.x + i * 2 * n;
        auto* to = a.grad_x + i * 2 * n;
        if (std::is_same_v<T, float> || !InFloat<width>(grad, x, n, to))
          InDouble<width>(grad, x, n, to);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
