// grad_x = grad_y * slope(x), dense; the slope is F(x) + x f(x) with the normal distribution
// function F and its density f ("none"), or the derivative of gelu's tanh form ("tanh"). Both
// slopes have a zero near -0.75, around which they keep their relative precision. Computed in
// double, rounded once.
#include "gate.h"
#include "gelu_backward.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// F(-a) - a f(a) for a >= 0, relative error below 2e-9 up to a = 20; beyond that it is below 1e-86
// in any case.
//
// exp(a^2 / 2) * (F(-a) - a f(a)) / (kZero - a) is a polynomial in t = (a - 4) / (a + 4): the one
// that interpolates it in the 10 Chebyshev nodes of the interval of t for 0 <= a <= 20, found with
// 60 digits; it is within 1e-9 of the function. The zero has a second part for the numbers next to
// it.
template <int kWidth>
inline double LowerSlope(double a) {
  constexpr double kZero = 0x1.80ead197f00b4p-1, kZeroRest = -0x1.13e74c58cada8p-56;
  constexpr double kEnd = 37;
  const double nearby = Select(a > kEnd, kEnd, a);
  const double t = 1 - 8 / (nearby + 4);
  const double p = Polynomial<kWidth>(
      t, -1.657986692043612e-05, -1.3926941860855689e-05, 0.00018556159760365167,
      -0.0001559443857155783, -0.0017882622199986691, 0.00950515247806355, -0.0280833650295697,
      0.060462927171604564, -0.1033658978363169, 0.4622112440865242);
  const double slope = Exp<kWidth>(-nearby * nearby / 2) * p * (kZero - nearby + kZeroRest);
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
  constexpr double kSqrt8OverPi = 0x1.9884533d43651p0, kCubic = 0.044715;
  constexpr double kEnd = 20;  // beyond, the slope is below 1e-260, or 1
  const double nearby = Select(__builtin_fabs(x) > kEnd, kEnd, x);
  const double cubic = kCubic * nearby * nearby;
  const double gate = Sigmoid<kWidth>(kSqrt8OverPi * (nearby + cubic * nearby));
  const double slope = gate * (1 + nearby * (1 - gate) * (kSqrt8OverPi * (1 + 3 * cubic)));
  return Select(x < -kEnd, 0.0, slope);
}

}  // namespace

opcast::Status GeluBackward(const GeluBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto tanh = [&a](int64_t begin, int64_t end, auto width) {
      const auto f = [=](double grad, double x) { return grad * SlopeTanh<width>(x); };
      Map<width>(end - begin, f, a.grad_x + begin, a.grad_y + begin, a.x + begin);
    };
    const auto exact = [&a](int64_t begin, int64_t end, auto width) {
      const auto f = [=](double grad, double x) { return grad * SlopeExact<width>(x); };
      Map<width>(end - begin, f, a.grad_x + begin, a.grad_y + begin, a.x + begin);
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
