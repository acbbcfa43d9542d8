// grad_x = grad_y * slope(x), dense; the slope is F(x) + x f(x) with the normal distribution
// function F and its density f ("none"), or the derivative of gelu's tanh form ("tanh"). Both
// slopes have a zero near -0.75, around which they keep their relative precision. Computed in
// float, for float32 with what products lose, and where a part of that leaves the range of floats
// in double. Rounded once.
#include "gate.h"
#include "gelu_backward.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// Where the slopes are 0, but for the sign.
constexpr double kExactZero = 0x1.80ead197f00b4p-1, kTanhZero = 0x1.81429f9e97e4dp-1;

// F(-a) - a f(a) for a >= 0, relative error below 2e-9 up to a = 20; beyond that it is below 1e-86
// in any case.
//
// exp(a^2 / 2) * (F(-a) - a f(a)) / (kExactZero - a) is a polynomial in t = (a - 4) / (a + 4): the
// one that interpolates it in the 10 Chebyshev nodes of the interval of t for 0 <= a <= 20, found
// with 60 digits; it is within 1e-9 of the function. The zero has a second part for the numbers
// next to it.
template <int kWidth>
inline double LowerSlope(double a) {
  constexpr double kZeroRest = -0x1.13e74c58cada8p-56, kEnd = 37;
  const double nearby = Select(a > kEnd, kEnd, a);
  const double t = 1 - 8 / (nearby + 4);
  const double p = Polynomial<kWidth>(
      t, -1.657986692043612e-05, -1.3926941860855689e-05, 0.00018556159760365167,
      -0.0001559443857155783, -0.0017882622199986691, 0.00950515247806355, -0.0280833650295697,
      0.060462927171604564, -0.1033658978363169, 0.4622112440865242);
  const double slope = Exp<kWidth>(-nearby * nearby / 2) * p * (kExactZero - nearby + kZeroRest);
  return Select(a > kEnd, 0.0, slope);
}

template <int kWidth>
inline double SlopeExact(double x) {
  const double lower = LowerSlope<kWidth>(__builtin_fabs(x));
  return Select(x < 0, lower, 1 - lower);
}

// gelu is x * g(u(x)) with g(u) = 1 / (1 + e^-u), so its slope is g + x g (1 - g) u'.
template <int kWidth>
inline double SlopeTanh(double x) {
  constexpr double kEnd = 20;  // beyond, the slope is below 1e-260, or 1
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  const double cubic = kGeluCubic * nearby * nearby;
  const double gate = Sigmoid<kWidth>(kSqrt8OverPi * (nearby + cubic * nearby));
  const double slope = gate * (1 + nearby * (1 - gate) * (kSqrt8OverPi * (1 + 3 * cubic)));
  return Select(x < -kEnd, 0.0, slope);
}

// The slope at x <= 0 for results of 16 bits: with a = -x, the product of kZero - a and the square
// of 2^p, where p is nearly the polynomial kLogarithm of a. Beyond kEnd, the slope is as at kEnd.
// These are within 3e-5, 1e-3, 1e-4 and 1e-3 of the slopes.
template <class T>
struct ExactSlope;
template <>
struct ExactSlope<opcast::f16> {
  static constexpr double kZero = kExactZero;
  static constexpr float kEnd = 7.75f;
  static constexpr float kLogarithm[] = {0x1.7e8dbep-23f,  -0x1.c11302p-18f, 0x1.c82cd0p-14f,
                                         -0x1.09a10ep-10f, 0x1.8f01c2p-8f,   -0x1.a0ed9ap-6f,
                                         -0x1.20887ep-2f,  -0x1.8794e0p-3f,  -0x1.2d47fcp-2f};
};
template <>
struct ExactSlope<opcast::bf16> {
  static constexpr double kZero = kExactZero;
  static constexpr float kEnd = 18.5f;
  static constexpr float kLogarithm[] = {0x1.f76e32p-29f,  -0x1.411988p-22f, 0x1.570eaap-17f,
                                         -0x1.8fd360p-13f, 0x1.165f3ap-9f,   -0x1.e07630p-7f,
                                         -0x1.2fbf4cp-2f,  -0x1.775812p-3f,  -0x1.2dfd38p-2f};
};
template <class T>
struct TanhSlope;
template <>
struct TanhSlope<opcast::f16> {
  static constexpr double kZero = kTanhZero;
  static constexpr float kEnd = 6.8125f;
  static constexpr float kLogarithm[] = {-0x1.4dfab6p-22f, 0x1.6cb0eap-17f, -0x1.4965d4p-13f,
                                         0x1.3716aap-10f,  -0x1.37ce02p-8f, 0x1.0d6a4cp-7f,
                                         -0x1.01e1e6p-11f, -0x1.8abd7cp-6f, -0x1.1f6014p-2f,
                                         -0x1.8b4498p-3f,  -0x1.2de302p-2f};
};
template <>
struct TanhSlope<opcast::bf16> {
  static constexpr double kZero = kTanhZero;
  static constexpr float kEnd = 11.5f;
  static constexpr float kLogarithm[] = {0x1.fba49ep-27f,  -0x1.ed998ap-21f, 0x1.9aa6a2p-16f,
                                         -0x1.7ba5c2p-12f, 0x1.a5c590p-9f,   -0x1.1838bcp-6f,
                                         0x1.89afdcp-5f,   -0x1.39c5f0p-4f,  -0x1.03189ep-2f,
                                         -0x1.952374p-3f,  -0x1.2df2b2p-2f};
};

// grad * slope(-a) from such a polynomial. One of two equal factors goes to grad, so that the other
// products are in the range of floats where the result is.
template <int kWidth, class Slope>
inline float LowerShort(float grad, float a) {
  constexpr TwoFloats kZero(Slope::kZero);
  const auto parts = SplitPower<kWidth>(Polynomial<kWidth>(a, Slope::kLogarithm));
  const float root = parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
  return grad * root * (((kZero.high - a) + kZero.low) * root);
}

// grad * slope(-a) for float32, as in LowerSlope. Here the polynomial in t = (a - 3.5) / (a +
// 3.5) is that of least relative error, 6e-9, for a <= kEnd, and the argument of the exponential
// has two parts.
template <>
struct ExactSlope<float> {
  static constexpr float kEnd = 13;

  template <int kWidth>
  static float Lower(float grad, float a) {
    constexpr TwoFloats kZero(kExactZero);
    const float p =
        Polynomial<kWidth>((a - 3.5f) / (a + 3.5f), 0x1.352586p-15f, 0x1.6a9088p-16f,
                           -0x1.c4b7dap-12f, 0x1.ff74a0p-13f, 0x1.33bc2ep-8f, -0x1.68bd16p-6f,
                           0x1.ddd498p-5f, -0x1.c7f3d8p-4f, 0x1.e0a508p-2f);
    const float half = -0.5f * a, square = half * a;
    const auto parts = SplitExp<kWidth>(square, Fma<kWidth>(half, a, -square));
    // The product of three, and what two roundings take from it.
    const float zero = (kZero.high - a) + kZero.low, slope = p * zero, factor = grad * slope;
    const float lost =
        Fma<kWidth>(grad, Fma<kWidth>(p, zero, -slope), Fma<kWidth>(grad, slope, -factor));
    const float whole = TimesOnePlus<kWidth>(factor, lost, parts.r * parts.slope);
    return whole * PowerOfTwo(parts.n);
  }
};

// The same for the tanh form, to 3.2 ulp.
//
// With the sigmoid's argument s(a) and e = exp(-s(a)), the slope at -a is e * (1 + e - a s'(a)) /
// (1 + e)^2. With the zero z of that, 1 + e - a s'(a) is z s'(z) - a s'(a) + e - exp(-s(z)), where
// s(z) - s(a) and z s'(z) - a s'(a) are z - a times sums of positive numbers.
template <>
struct TanhSlope<float> {
  static constexpr float kEnd = 9.96f;

  template <int kWidth>
  static float Lower(float grad, float a) {
    constexpr double kZero = kTanhZero, kCubic = kSqrt8OverPi * kGeluCubic;
    constexpr double kSquare = kCubic * kZero * kZero;
    constexpr TwoFloats kZeros(kZero), kLast(kSqrt8OverPi + 3 * kSquare);
    constexpr float kFirst = static_cast<float>(3 * kCubic);
    constexpr float kSecond = static_cast<float>(3 * kCubic * kZero);
    const Decay<kWidth> decay(GeluArgument<kWidth>(-a));
    const float from = kZeros.high - a, from_low = Lack(kZeros.high, -a, from) + kZeros.low;
    const float near =
        (from + from_low) * Polynomial<kWidth>(a, static_cast<float>(kCubic),
                                               static_cast<float>(kCubic * kZero),
                                               static_cast<float>(kSqrt8OverPi + kSquare));
    const float above =
        decay.Above(near, static_cast<float>(kZero * (kSqrt8OverPi + 3 * kSquare) - 1));
    const float inner = Fma<kWidth>(a, kFirst, kSecond), product = a * inner;
    const float sum = product + kLast.high;
    const float lack =
        Lack(product, kLast.high, sum) + (Fma<kWidth>(a, inner, -product) + kLast.low);
    const float low = Fma<kWidth>(from, lack, Fma<kWidth>(from_low, sum, above));
    const float n = Fma<kWidth>(from, sum, low);
    return decay.Falling(grad, 0, n, Fma<kWidth>(from, sum, low - n));
  }
};

// grad * slope(x) in float for results of type T.
template <int kWidth, class T, class Slope>
inline float Gradient(float grad, float x) {
  const float a = Magnitude(x, Slope::kEnd);
  float lower;
  if constexpr (std::is_same_v<T, float>)
    lower = Slope::template Lower<kWidth>(grad, a);
  else
    lower = LowerShort<kWidth, Slope>(grad, a);
  return Select(x < 0, lower, grad - lower);
}

// Whether that holds, and makes no NaN. For results of 16 bits, what follows from a slope below
// that at kEnd is 0.
template <class T, class Slope>
inline bool IsOrdinary(float grad, float x) {
  constexpr bool kLong = std::is_same_v<T, float>;
  constexpr float kMost = kLong ? 0x1p118f : std::numeric_limits<float>::max();
  const float magnitude = __builtin_fabsf(grad);
  return ((x >= -Slope::kEnd) & (magnitude <= kMost)) | (!kLong & (x < 0) & (magnitude < 0x1p40f));
}

// The gradients of n elements, those in double where the ones in float do not hold.
template <int kWidth, class Slope, class Wide, class T>
inline void Gradients(int64_t n, Wide wide, T* to, const T* grad, const T* x) {
  const auto slow = [=](double grad, double x) { return grad * wide(x); };
  MapEither<kWidth>(n, Gradient<kWidth, T, Slope>, IsOrdinary<T, Slope>, slow, to, grad, x);
}

}  // namespace

opcast::Status GeluBackward(const GeluBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto tanh = [&a](int64_t begin, int64_t end, auto width) {
      Gradients<width, TanhSlope<T>>(end - begin, SlopeTanh<width>, a.grad_x + begin,
                                     a.grad_y + begin, a.x + begin);
    };
    const auto exact = [&a](int64_t begin, int64_t end, auto width) {
      Gradients<width, ExactSlope<T>>(end - begin, SlopeExact<width>, a.grad_x + begin,
                                      a.grad_y + begin, a.x + begin);
    };
    if (a.approximate == GeluBackwardApproximate::kTanh) {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, tanh);
    } else {
      opcast::ParallelFor(launch, a.batch, kChunk / 4, exact);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
