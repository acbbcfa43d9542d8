// y = x * F(x), dense; F is the normal distribution function ("none") or its tanh approximation
// ("tanh"). Computed in double, rounded once. Neither form subtracts nearly equal numbers, so the
// negative tail keeps its relative precision.
#include "gelu.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {
namespace {

// The normal distribution function at -a for a >= 0, relative error below 2e-10 up to a = 16;
// beyond that it is too large, but still below 1e-55.
//
// exp(a^2 / 2) * F(-a) * (a + 5) is a polynomial in t = (a - 5) / (a + 5): the one that
// interpolates it in the 12 Chebyshev nodes of the interval of t for 0 <= a <= 16, found with 40
// digits; it is within 1.1e-10 of the function.
inline double LowerTail(double a) {
  const double nearby = Select(a > 16, 16.0, a);
  const double inverse = 1 / (nearby + 5);
  const double t = (nearby - 5) * inverse;
  double p = -5.584663656578423e-05;
  p = p * t - 4.5035352074173064e-05;
  p = p * t + 0.0005531762485342209;
  p = p * t - 0.0008031517677088136;
  p = p * t - 0.0029967251562182935;
  p = p * t + 0.02079611343523922;
  p = p * t - 0.06911805647060208;
  p = p * t + 0.16502025091469777;
  p = p * t - 0.3135331975031557;
  p = p * t + 0.4953056216007245;
  p = p * t - 0.6653825021335024;
  p = p * t + 0.7691930497004182;
  return Exp(-0.5 * a * a) * p * inverse;
}

inline double GeluExact(double x) {
  const double tail = LowerTail(__builtin_fabs(x));
  return x * Select(x < 0, tail, 1 - tail);
}

// (1 + tanh u) / 2 = 1 / (1 + e^-2u).
inline double GeluTanh(double x) {
  constexpr double kSqrt8OverPi = 0x1.9884533d43651p0;
  return x / (1 + Exp(-kSqrt8OverPi * (x + 0.044715 * x * x * x)));
}

template <class T, class F>
void Map(const GeluTyped<T>& args, const opcast::Launch& launch, F f) {
  const T* x = args.x;
  T* y = args.y;
  opcast::ParallelFor(launch, args.batch, kChunk / 4, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = Round<T>(f(static_cast<float>(x[i])));
  });
}

}  // namespace

opcast::Status Gelu(const GeluArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    if (a.approximate == GeluApproximate::kTanh) {
      Map<T>(a, launch, [](double x) { return GeluTanh(x); });
    } else {
      Map<T>(a, launch, [](double x) { return GeluExact(x); });
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
