// y = x / sqrt(mean(x^2) + eps) * weight, by rows. Dense. Computed in double and rounded once.
#include <cmath>

#include "rms_norm.gen.h"

opcast::Status kit_ops::RmsNorm(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.batch, 16, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* x = a.x + r * a.N;
        double sum = 0;
        for (int64_t i = 0; i < a.N; ++i) sum += double(x[i]) * double(x[i]);
        const double scale = 1 / std::sqrt(sum / double(a.N) + a.eps);
        for (int64_t i = 0; i < a.N; ++i)
          a.y[r * a.N + i] = T(double(x[i]) * scale * double(a.weight[i]));
      }
    });
    return opcast::Status::Ok();
  });
}
