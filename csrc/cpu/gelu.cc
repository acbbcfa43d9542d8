// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float and rounded once; arguments of the exponential have two parts, so
// that the negative tail is right to 4 ulp. No form subtracts nearly equal numbers.
#include "gate.h"
#include "gelu.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// x F(x) is this minus |x| F(-|x|).
inline float Ramp(float x) { return x < 0 ? x - x : x; }  // NaN for -inf

// The binary logarithm of F(-a), of which nothing is lost that results of a dtype could show: they
// are 0 beyond kEnd, or near enough to x. As powers of two, the polynomials have relative errors of
// 4e-5 and 1.6e-4.
template <class T>
struct LogTail;
template <>
struct LogTail<opcast::f16> {
  static constexpr float kEnd = 5.9f;

  static constexpr float kPolynomial[] = {0x1.8c04eep-16f, -0x1.45a4c2p-11f, 0x1.db8c1p-8f,
                                          -0x1.a4afacp-5f, -0x1.d82134p-2f,  -0x1.2677e8p+0f,
                                          -0x1.0003cep+0f};
};
template <>
struct LogTail<opcast::bf16> {
  static constexpr float kEnd = 13.7f;

  static constexpr float kPolynomial[] = {0x1.99ffb4p-26f,  -0x1.a4b6a2p-20f, 0x1.734424p-15f,
                                          -0x1.73e502p-11f, 0x1.d94666p-8f,   -0x1.9b3916p-5f,
                                          -0x1.dace94p-2f,  -0x1.26068ep+0f,  -0x1.000f08p+0f};
};

// x F(x) for results of 16 bits.
template <int kWidth, class T>
inline float GeluShort(float x) {
  constexpr float kEnd = LogTail<T>::kEnd;
  const float magnitude = __builtin_fabsf(x), a = magnitude > kEnd ? kEnd : magnitude;
  const auto parts = SplitPower<kWidth>(Polynomial<kWidth>(a, LogTail<T>::kPolynomial));
  const float tail = ScaleDown(parts.template Fraction<kWidth>(), parts.n);
  return Fma<kWidth>(a, -tail, Ramp(x));
}

// x F(x) to 3.6 ulp.
//
// Near 0, F(x) is 0.5 + x R(x^2). Elsewhere a F(-a) exp(a^2 / 2) is a function of
// t = (a - 3) / (a + 3) that hardly changes, so that errors of t hardly matter. R and the function
// are the polynomials of least relative error, 3e-9 and 6e-9, for a <= 0.75 and for 0.75 <= a.
template <int kWidth>
inline float GeluExact(float x) {
  constexpr float kNear = 0.75f, kEnd = 14.5f;  // beyond kEnd, a F(-a) is 0
  const float magnitude = __builtin_fabsf(x), a = magnitude > kEnd ? kEnd : magnitude;
  const float r = Polynomial<kWidth>(x * x, 0x1.afc39ap-14f, -0x1.35aab2p-10f, 0x1.46c62p-7f,
                                     -0x1.105822p-4f, 0x1.988454p-2f);
  const float nearby = x * Fma<kWidth>(x, r, 0.5f);
  const float p = Polynomial<kWidth>(
      (a - 3) / (a + 3), -0x1.1efb8cp-11f, -0x1.381f26p-15f, 0x1.03de9cp-8f, -0x1.c7d72p-10f,
      -0x1.d8cf6ap-6f, 0x1.76478ap-4f, -0x1.1e04bp-3f, 0x1.c20d32p-4f, 0x1.754a76p-2f);
  const float half = -0.5f * a, square = half * a;
  const auto parts = SplitExp<kWidth>(square, Fma<kWidth>(half, a, -square));
  const float tail = ScaleDown(parts.template Fraction<kWidth>(), parts.n);
  const float far = Fma<kWidth>(p, -tail, Ramp(x));
  return Select(magnitude < kNear, nearby, far);
}

// x * (1 + tanh u) / 2 = x * sigmoid(2 u) for results of 16 bits.
constexpr double kCubic = kGeluCubic * kSqrt8OverPi;
template <int kWidth>
inline float GeluTanhShort(float x) {
  constexpr float kLinear = static_cast<float>(kSqrt8OverPi), kThird = static_cast<float>(kCubic);
  return Gated<kWidth>(x, x * Fma<kWidth>(x * x, kThird, kLinear));
}

// A slope as two floats: 2 u = x * slope.
template <int kWidth>
inline void TanhSlope(float x, float* slope, float* low) {
  constexpr float kLinear = static_cast<float>(kSqrt8OverPi), kThird = static_cast<float>(kCubic);
  constexpr float kLinearLow = static_cast<float>(kSqrt8OverPi - kLinear);
  constexpr float kThirdLow = static_cast<float>(kCubic - kThird);
  const float square = x * x, square_low = Fma<kWidth>(x, x, -square);
  const float third = square * kThird, third_low = Fma<kWidth>(square, kThird, -third);
  *slope = third + kLinear;
  *low = Lack(third, kLinear, *slope) +
         Fma<kWidth>(square, kThirdLow, Fma<kWidth>(square_low, kThird, third_low + kLinearLow));
}

// The same to 4 ulp of float: x / (1 + e^-2u), divided by a power of two where e^-2u would leave
// the range of floats. The exponential gets what 2 u lacks as a float.
template <int kWidth>
inline float GeluTanhExact(float x) {
  constexpr float kEnd = 11.5f, kTop = 6;  // the result is 0 below -kEnd, and x above kTop
  const float least = x < -kEnd ? -kEnd : x, minus = -(least > kTop ? kTop : least);
  float slope, low;
  TanhSlope<kWidth>(minus, &slope, &low);
  const float shifted = Fma<kWidth>(minus * slope, kLog2E, kRounder), n = shifted - kRounder;
  const float near = Fma<kWidth>(n, -kLn2Low, Fma<kWidth>(minus, slope, n * -kLn2High));
  const float r = Fma<kWidth>(minus, low, near);
  const ExpParts parts = {r, ExpSlope<kWidth>(r), RoundedBy(shifted)};
  const int32_t down = parts.n > 64 ? parts.n - 64 : 0;
  const float sum =
      Fma<kWidth>(parts.Fraction<kWidth>(), PowerOfTwo(parts.n - down), PowerOfTwo(-down));
  return Select(x < -kEnd, x - x, x) / sum * PowerOfTwo(-down);  // -inf * 0 is NaN
}

}  // namespace

opcast::Status Gelu(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Stores<> stores = {PastCache(launch, 2 * a.batch * sizeof(T))};
    const auto tanh = [&a, stores](int64_t begin, int64_t end, auto width) {
      if constexpr (std::is_same_v<T, float>)
        MapTo<width>(stores, end - begin, GeluTanhExact<width>, a.y + begin, a.x + begin);
      else
        MapTo<width>(stores, end - begin, GeluTanhShort<width>, a.y + begin, a.x + begin);
    };
    const auto exact = [&a, stores](int64_t begin, int64_t end, auto width) {
      if constexpr (std::is_same_v<T, float>)
        MapTo<width>(stores, end - begin, GeluExact<width>, a.y + begin, a.x + begin);
      else
        MapTo<width>(stores, end - begin, GeluShort<width, T>, a.y + begin, a.x + begin);
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
