// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in float, for float32 with what products lose; rows in which
// a part of that leaves the range of floats in double. Rounded once.
#include "gate.h"
#include "rows.h"
#include "silu_and_mul_backward.gen.h"
#include "step.h"

namespace opcast_ops {
namespace {

// Both gradients of one element.
struct Pair {
  float gate, value;
};

// Whether a form in float holds: no part of it is infinite, or NaN.
inline bool IsOrdinary(float grad, float gate, float value, float least_gate, float most) {
  return (gate >= least_gate) & (__builtin_fabsf(grad * value) <= most) &
         (__builtin_fabsf(grad * gate) <= most);
}

// For results of 16 bits. With e = exp(-gate), silu' is (1 + e * (1 + gate)) / (1 + e)^2.
struct Short {
  static constexpr float kLeast = -80, kMost = std::numeric_limits<float>::max();

  template <int kWidth>
  static Pair Of(float grad, float gate, float value) {
    const float x = Select(gate > -kLeast, -kLeast, gate);
    const auto parts = SplitNearPower<kWidth>(-kLog2E * x);
    const float e = parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
    const float sigmoid = 1 / (1 + e);
    const float slope = sigmoid * (sigmoid * Fma<kWidth>(e, 1 + x, 1));
    return {grad * value * slope, grad * (gate * sigmoid)};
  }
};

// For float32, to 3.5 ulp.
//
// silu'(a) is 1 - silu'(-a). With e = exp(-a), silu'(-a) is e * (1 + e - a) / (1 + e)^2, and
// 1 + e - a is z - a + e - exp(-z) with the zero z of that.
struct Long {
  static constexpr float kLeast = -87, kMost = 0x1p120f;

  template <int kWidth>
  static Pair Of(float grad, float gate, float value) {
    constexpr double kZero = 0x1.474973c84120bp0;
    constexpr TwoFloats kZeros(kZero);
    constexpr float kAtZero = static_cast<float>(kZero - 1);
    const float a = Magnitude(gate, -kLeast);
    const Decay<kWidth> decay(Reduce<kWidth>(-a));
    // n is 1 + e - a, and loses what its last sum lacks.
    const float from = kZeros.high - a;
    const float rest = kZeros.low + decay.Above(from + kZeros.low, kAtZero);
    const float n = from + rest, product = grad * value;
    const float lower =
        decay.Falling(product, Fma<kWidth>(grad, value, -product), n, rest - (n - from));
    // The quotient and its remainder, divided.
    const float factor = grad * gate, upper = factor * decay.gate;
    const float left = decay.gate * Fma<kWidth>(-upper, decay.sum, factor);
    const float falling = TimesOnePlus<kWidth>(upper, left, decay.rest) * decay.power;
    return {Select(gate < 0, lower, product - lower), Select(gate < 0, falling, upper + left)};
  }
};

template <int kWidth>
inline Pair Wide(double grad, double gate, double value) {
  const double sigmoid = Sigmoid<kWidth>(gate);
  return {static_cast<float>(grad * value * SiluSlope(gate, sigmoid)),
          static_cast<float>(grad * (gate * sigmoid))};
}

// Both gradients of a row in float, and whether all its elements are ordinary.
template <int kWidth, class T>
inline bool InFloat(const T* grad, const T* gate, int64_t n, T* to) {
  using S = Step<kWidth, T>;
  using Form = std::conditional_t<std::is_same_v<T, float>, Long, Short>;
  int32_t broken[S::kLanes] = {};
  ForParts<S::kCount>(n, [&](int64_t i, auto count) {
    S g, x, v;
    g.Load(grad + i, count);
    x.Load(gate + i, count);
    v.Load(gate + n + i, count);
    for (int k = 0; k < S::kVectors; ++k) {
#pragma GCC unroll 1
      for (int j = 0; j < S::kLanes; ++j) {
        float &a = g.vectors[k].numbers[j], &b = x.vectors[k].numbers[j];
        const float c = v.vectors[k].numbers[j];
        broken[j] |= !IsOrdinary(a, b, c, Form::kLeast, Form::kMost);
        const Pair both = Form::template Of<kWidth>(a, b, c);
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
      const Pair both = Wide<kWidth>(g.numbers[j], x.numbers[j], v.numbers[j]);
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
    const int64_t n = a.D;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      for (int64_t i = begin; i < end; ++i) {
        const auto *grad = a.grad_y + i * n, *x = a.x + i * 2 * n;
        auto* to = a.grad_x + i * 2 * n;
        if (!InFloat<width>(grad, x, n, to)) InDouble<width>(grad, x, n, to);
      }
    };
    opcast::ParallelFor(launch, a.batch, RowsPerChunk(2 * n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
