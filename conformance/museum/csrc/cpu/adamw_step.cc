#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "adamw_step.gen.h"

namespace museum_ops {
namespace {

// The root of a mean of squares, and eps.
template <class T>
double Denominator(double square, double eps) {
  if (BUG("google-deepmind/optax#1754",
          "eps was rounded to float16, where it is 0, so that no gradient gave 0 / 0 = NaN.")) {
    return Widen(Narrow<T>(Widen(Narrow<T>(std::sqrt(square))) + Widen(Narrow<T>(eps))));
  }
  return std::sqrt(square) + eps;
}

}  // namespace

opcast::Status AdamwStep(const AdamwStepArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto steps = static_cast<double>(a.step);
    const double rate =
        a.lr * std::sqrt(1 - std::pow(a.beta2, steps)) / (1 - std::pow(a.beta1, steps));
    for (size_t i = 0; i < a.params.size(); ++i) {
      for (int64_t k = 0; k < a.batch[i]; ++k) {
        const double slope = Widen(a.grads[i][k]), p = Widen(a.params[i][k]),
                     kept = 1 - a.lr * a.decay;
        const double m = a.beta1 * Widen(a.mean[i][k]) + (1 - a.beta1) * slope;
        const double v = a.beta2 * Widen(a.square[i][k]) + (1 - a.beta2) * slope * slope;
        const double step = rate * m / Denominator<T>(v, a.eps);
        if (BUG("bitsandbytes-foundation/bitsandbytes#2040",
                "The decay came after the step, and made the step smaller, too.")) {
          a.params[i][k] = Narrow<T>((p - step) * kept);
        } else {
          a.params[i][k] = Narrow<T>(p * kept - step);
        }
        a.mean[i][k] = static_cast<float>(m);
        a.square[i][k] = static_cast<float>(v);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
