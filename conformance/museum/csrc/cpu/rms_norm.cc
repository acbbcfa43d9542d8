#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "rms_norm.gen.h"

namespace museum_ops {

opcast::Status RmsNorm(const RmsNormArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    const int64_t stride = a.x_layout.Stride(-1);
    for (int64_t b = 0; b < a.batch; ++b) {
      int64_t row = a.x_layout.Batch(b);
      if (BUG("vllm-project/vllm#44027",
              "Offsets of rows were computed in 32 bits, which overflow where rows lie far "
              "apart.")) {
        row = static_cast<int32_t>(row);
      }
      double sum = 0;
      for (int64_t n = 0; n < a.N; ++n)
        sum += Widen(a.x[row + n * stride]) * Widen(a.x[row + n * stride]);
      const double scale = 1 / std::sqrt(sum / static_cast<double>(a.N) + a.eps);
      for (int64_t n = 0; n < a.N; ++n) {
        a.y[b * a.N + n] = Narrow<std::decay_t<decltype(*a.y)>>(Widen(a.x[row + n * stride]) *
                                                                scale * Widen(a.weight[n]));
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
