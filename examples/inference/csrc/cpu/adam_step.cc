#include <cmath>

#include "adam_step.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status AdamStep(const AdamStepArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const double steps = *a.step;
    const double rate =
        *a.lr * std::sqrt(1 - std::pow(a.beta2, steps)) / (1 - std::pow(a.beta1, steps));
    for (size_t i = 0; i < a.params.size(); ++i) {
      opcast::ParallelFor(launch, a.batch[i], 4096, [&a, i, rate](int64_t begin, int64_t end) {
        T* p = a.params[i];
        const T* g = a.grads[i];
        float* mean = a.mean[i];
        float* square = a.square[i];
        for (int64_t k = begin; k < end; ++k) {
          const double slope = Widen(g[k]);
          const double m = a.beta1 * mean[k] + (1 - a.beta1) * slope;
          const double v = a.beta2 * square[k] + (1 - a.beta2) * slope * slope;
          p[k] = Narrow<T>(Widen(p[k]) - rate * m / (std::sqrt(v) + a.eps));
          mean[k] = static_cast<float>(m);
          square[k] = static_cast<float>(v);
        }
      });
    }
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
