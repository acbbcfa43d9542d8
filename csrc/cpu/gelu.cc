// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float and rounded once; arguments of the exponential have two parts, so
// that the negative tail is right to 4 ulp. No form subtracts nearly equal numbers.
#include "gate.h"
#include "gelu.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// x F(x) = max(x, 0) - a F(-a) with a = |x|; NaN for -inf.
template <int kWidth>
inline float LessTail(float x, float factor, float f) {
  return Fma<kWidth>(-factor, f, Select(x < 0, x - x, x));
}

// x F(x) for results of 16 bits: the binary logarithm of F(-a) is nearly a polynomial. The relative
// error is below 2e-5 for a <= 5.9, where float16 ends, and 1.4e-4 elsewhere.
template <int kWidth>
inline float GeluShort(float x) {
  constexpr float kEnd = 14.2f;  // beyond, a F(-a) is 0
  const float magnitude = __builtin_fabsf(x), a = Select(magnitude > kEnd, kEnd, magnitude);
  const auto parts = SplitPower<kWidth>(Polynomial<kWidth>(
      a, -0x1.f9e732p-30f, 0x1.25f4dap-23f, -0x1.2adfd8p-18f, 0x1.5ff914p-14f, -0x1.0cfadep-10f,
      0x1.1d317ap-7f, -0x1.bb0b3cp-5f, -0x1.d59658p-2f, -0x1.26b066p+0f, -1.0f));
  return LessTail<kWidth>(x, a, ScaleDown(parts.template Fraction<kWidth>(), parts.n));
}

// x F(x) to 3.6 ulp.
//
// Near 0, F(x) is 0.5 + x R(x^2). Elsewhere a F(-a) exp(a^2 / 2) is a function of
// t = (a - 3) / (a + 3) that hardly changes, so that errors of t hardly matter. R and the function
// are the polynomials of least relative error, 3e-9 and 6e-9, for a <= 0.75 and for 0.75 <= a.
template <int kWidth>
inline float GeluExact(float x) {
  constexpr float kNear = 0.75f, kEnd = 14.5f;  // beyond kEnd, a F(-a) is 0
  const float magnitude = __builtin_fabsf(x), a = Select(magnitude > kEnd, kEnd, magnitude);
  const float r = Polynomial<kWidth>(x * x, 0x1.afc39ap-14f, -0x1.35aab2p-10f, 0x1.46c62p-7f,
                                     -0x1.105822p-4f, 0x1.988454p-2f);
  const float nearby = x * Fma<kWidth>(x, r, 0.5f);
  const float p = Polynomial<kWidth>(
      (a - 3) / (a + 3), -0x1.1efb8cp-11f, -0x1.381f26p-15f, 0x1.03de9cp-8f, -0x1.c7d72p-10f,
      -0x1.d8cf6ap-6f, 0x1.76478ap-4f, -0x1.1e04bp-3f, 0x1.c20d32p-4f, 0x1.754a76p-2f);
  const float half = -0.5f * a, square = half * a;
  const auto parts = SplitExp<kWidth>(square, Fma<kWidth>(half, a, -square));
  const float far = LessTail<kWidth>(x, p, ScaleDown(parts.template Fraction<kWidth>(), parts.n));
  return Select(magnitude < kNear, nearby, far);
}

// x * (1 + tanh u) / 2 = x * sigmoid(2 u). kExact says whether u counts beyond the precision of a
// float.
template <int kWidth, bool kExact>
inline float GeluTanh(float x) {
  constexpr double kSqrt8OverPi = 0x1.9884533d43651p0, kCubic = 0.044715 * kSqrt8OverPi;
  if constexpr (kExact) {
    const double wide = x, u2 = wide * Fma<kWidth>(wide * wide, kCubic, kSqrt8OverPi);
    const double s = Select(__builtin_fabs(u2) > 200, __builtin_copysign(200.0, u2), u2);
    const float high = static_cast<float>(s);
    return Gated<kWidth>(x, high, static_cast<float>(s - high));
  } else {
    constexpr float kLinear = static_cast<float>(kSqrt8OverPi), kThird = static_cast<float>(kCubic);
    return Gated<kWidth>(x, x * Fma<kWidth>(x * x, kThird, kLinear));
  }
}

}  // namespace

opcast::Status Gelu(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto tanh = [&a](int64_t begin, int64_t end, auto width) {
      constexpr bool kExact = std::is_same_v<T, float>;
      Map<width>(end - begin, GeluTanh<width, kExact>, a.y + begin, a.x + begin);
    };
    const auto exact = [&a](int64_t begin, int64_t end, auto width) {
      if constexpr (std::is_same_v<T, float>)
        Map<width>(end - begin, GeluExact<width>, a.y + begin, a.x + begin);
      else
        Map<width>(end - begin, GeluShort<width>, a.y + begin, a.x + begin);
    };
    if (a.approximate == GeluApproximate::kTanh) {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, tanh);
    } else {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, exact);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
