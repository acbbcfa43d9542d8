// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float and rounded once; arguments of the exponential have two parts, so
// that the negative tail is right to 4 ulp. No form subtracts nearly equal numbers.
#include "common/standard.h"

#include "gelu.h"

#include "gelu.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// x F(x) to 3.5 ulp.
//
// a F(-a) is u exp(-a^2 / 2) times a function of u = a / (a + 3.5) that changes slowly: here the
// polynomial in u - 0.5 of least relative error, 7e-9, for a <= kEnd.
template <int kWidth>
inline float GeluExact(float x) {
  constexpr float kEnd = 14.5f;  // beyond, a F(-a) is 0
  const float a = Magnitude(x, kEnd);
  const float u = a / (a + 3.5f);
  const float p = Polynomial<kWidth>(
      u - 0.5f, 0x1.d0428cp-5f, 0x1.ba63f0p-4f, -0x1.037e18p-4f, -0x1.a031b6p-3f, 0x1.a98868p-3f,
      0x1.1d2fa4p-2f, -0x1.db5a6ep-1f, 0x1.42fec8p0f, -0x1.219150p0f, 0x1.7d241ap-1f);
  const float half = -0.5f * a, square = half * a;
  const Reduced e = Reduce<kWidth>(square, Fma<kWidth>(half, a, -square));
  // 2^64 a F(-a): the exponent leaves its range before the result is 0.
  const float factor = u * TimesPower(p, e.n, 64);
  const float tail = Fma<kWidth>(factor, ExpLessOne<kWidth>(e.r), factor);
  return OrSign(Fma<kWidth>(tail, -0x1p-64f, Ramp(x)), x);
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
