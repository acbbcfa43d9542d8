// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in float and rounded once; arguments of the exponential are as exact as if
// they had two parts, so that the negative tail is right to 4 ulp. No form subtracts nearly equal
// numbers.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/gelu.h"

#include "cpu/activation/gelu_avx512.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "gelu.gen.h"

namespace opcast_ops {
namespace {

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
      using Nan = std::conditional_t<width == 64, NoNan, AnyNan>;  // all are one as it is
      MapTo<width>(Stores<Nan>{stores.past}, end - begin, GeluOf<width, T>(), a.y + begin,
                   a.x + begin);
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
