// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float and rounded once; arguments of the exponential are as exact as if
// they had two parts, so that the negative tail is right to 4 ulp. No form subtracts nearly equal
// numbers.
#include "common/standard.h"

#include "gelu.h"

#include "gelu.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// x F(x) to 3.9 ulp.
//
// a F(-a) is u exp(-a^2 / 2) times a function of u = a / (a + kNear) that changes slowly: here the
// polynomial in u - 0.25 of least relative error, 1.5e-8, for a <= kEnd. The exponential comes
// first, since the quotient takes long: -a^2 is 2 n ln 2 + r, and `twice` is 2 (e^(r / 2) - 1) by
// the polynomial of ExpLessOne, so that no number has to be halved.
template <int kWidth>
inline float GeluExact(float x) {
  constexpr float kEnd = 14.5f;       // beyond, a F(-a) is 0
  constexpr float kNear = 3.766875f;  // the polynomial loses least of its constants' roundings here
  const float a = Magnitude(x, kEnd);
  const float u = a / (a + kNear);

  constexpr float kShift = kRounder + 64;  // the power would leave its range before the result is 0
  const float shifted = Fma<kWidth>(a * a, -0.5f * kLog2E, kShift), n = shifted - kShift;
  const float r = Fma<kWidth>(n, -2 * kLn2Low, Fma<kWidth>(-a, a, n * (-2 * kLn2High)));
  const float square = r * r;
  const float first = Fma<kWidth>(0x1.55548ep-5f, r, 0.25f),
              last = Fma<kWidth>(0x1.123bdep-11f, r, 0x1.55545ep-8f);
  const float rest = Fma<kWidth>(Fma<kWidth>(0x1.6db4e8p-15f, square, last), square, first);
  const float twice = Fma<kWidth>(square, rest, r);

  const float p = Polynomial<kWidth>(u - 0.25f, 0x1.da3242p-4f, -0x1.407298p-3f, -0x1.93f814p-3f,
                                     0x1.b0e9ecp-2f, 0x1.55cc9ap-2f, -0x1.c0a770p+0f,
                                     0x1.477f00p+1f, -0x1.142d8cp+1f, 0x1.27e7b8p+0f);
  const float factor = u * TimesPower(p, RoundedBy(shifted), 0);
  const float tail = Fma<kWidth>(factor, twice, factor + factor);  // 2^65 a F(-a)
  return OrSign(Fma<kWidth>(tail, -0x1p-65f, Ramp(x)), x);
}

// x * (1 + tanh u) / 2 = x * sigmoid(2 u) to 2.3 ulp of float: x / (1 + e^-2u), both divided by
// 2^64, since e^-2u leaves the range of floats.
template <int kWidth>
inline float GeluTanhExact(float x) {
  constexpr float kEnd = 11.5f, kTop = 6;  // the result is 0 below -kEnd, and x above kTop
  const float nearby = Clamp(x, -kEnd, kTop);
  const ExpParts parts = SplitExp<kWidth>(GeluArgument<kWidth>(-nearby));
  const float sum = TimesPower(parts.Fraction<kWidth>(), parts.n, -64) + 0x1p-64f;
  const float below = Fma<kWidth>(nearby / sum, 0x1p-64f, x - x);  // NaN for -inf
  return SelectBySign(kTop - x, x, OrSign(below, x));
}

}  // namespace

opcast::Status Gelu(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Stores<> stores = {PastCache(launch, a.y, a.batch, 2)};
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
        MapTo<width>(stores, end - begin, GeluShort<width, LogTail<T>>, a.y + begin, a.x + begin);
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
