// grad_x = grad_y * slope(x), dense; the slope is F(x) + x f(x) with the normal distribution
// function F and its density f ("none"), or the derivative of gelu's tanh form ("tanh"). Computed
// in double, rounded once. Both slopes have a zero near -0.75, around which they keep their
// relative precision.
#include "gelu_backward.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {
namespace {

// F(-a) - a f(a) for a >= 0, relative error below 2e-9 up to a = 20; beyond that it is below 1e-86
// in any case.
//
// exp(a^2 / 2) * (F(-a) - a f(a)) / (kZero - a) is a polynomial in t = (a - 4) / (a + 4): the one
// that interpolates it in the 10 Chebyshev nodes of the interval of t for 0 <= a <= 20, found with
// 60 digits; it is within 1e-9 of the function. The zero has a second part for the numbers next to
// it.
inline double LowerSlope(double a) {
  constexpr double kZero = 0x1.80ead197f00b4p-1, kZeroRest = -0x1.13e74c58cada8p-56, kEnd = 37;
  const double nearby = Select(a > kEnd, kEnd, a);
  const double t = 1 - 8 / (nearby + 4);
  double p = -1.657986692043612e-05;
  p = p * t - 1.3926941860855689e-05;
  p = p * t + 0.00018556159760365167;
  p = p * t - 0.0001559443857155783;
  p = p * t - 0.0017882622199986691;
  p = p * t + 0.00950515247806355;
  p = p * t - 0.0280833650295697;
  p = p * t + 0.060462927171604564;
  p = p * t - 0.1033658978363169;
  p = p * t + 0.4622112440865242;
  const double slope = ExpInRange(-0.5 * nearby * nearby) * p * (kZero - nearby + kZeroRest);
  return Select(a > kEnd, 0.0, slope);
}

inline double SlopeExact(double x) {
  const double lower = LowerSlope(__builtin_fabs(x));
  return Select(x < 0, lower, 1 - lower);
}

// gelu is x * g(u(x)) with g(u) = 1 / (1 + e^-u), so its slope is g + x g (1 - g) u'.
inline double SlopeTanh(double x) {
  constexpr double kSqrt8OverPi = 0x1.9884533d43651p0;
  constexpr double kEnd = 20;  // beyond, the slope is below 1e-260, or 1
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  const double cubic = 0.044715 * nearby * nearby;
  const double gate = 1 / (1 + ExpInRange<12>(-kSqrt8OverPi * (nearby + cubic * nearby)));
  const double slope = gate * (1 + nearby * (1 - gate) * (kSqrt8OverPi * (1 + 3 * cubic)));
  return Select(x < -kEnd, 0.0, slope);
}

template <class T, class F>
void Map(const GeluBackwardTyped<T>& args, const opcast::Launch& launch, F slope) {
  const T* grad_y = args.grad_y;
  const T* x = args.x;
  T* grad_x = args.grad_x;
  opcast::ParallelFor(launch, args.batch, kChunk / 4, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      grad_x[i] = Round<T>(static_cast<float>(grad_y[i]) * slope(static_cast<float>(x[i])));
    }
  });
}

}  // namespace

opcast::Status GeluBackward(const GeluBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    if (a.approximate == GeluBackwardApproximate::kTanh) {
      Map<T>(a, launch, [](double x) { return SlopeTanh(x); });
    } else {
      Map<T>(a, launch, [](double x) { return SlopeExact(x); });
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
