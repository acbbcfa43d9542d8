#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "add_rms_norm.gen.h"

namespace museum_ops {

opcast::Status AddRmsNorm(const AddRmsNormArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const T* residual = a.residual;
    if (residual == nullptr) {
      residual = a.nothing;
      if (!BUG("vllm-project/vllm#41972",
               "Rows without a residual got a buffer that nobody had cleared added.")) {
        std::fill_n(a.nothing, a.batch * a.N, T(0.0F));
      }
    }
    double eps = a.eps;
    if (BUG("ggml-org/llama.cpp#14545", "The fused kernel took eps from the wrong place.")) eps = 0;
    for (int64_t row = 0; row < a.batch * a.N; row += a.N) {
      const auto total = [&, row](int64_t n) {
        const double sum = Widen(a.x[row + n]) + Widen(residual[row + n]);
        if (BUG("vllm-project/vllm#52151",
                "Sums were rounded to 16 bits before they were normalised."))
          return Widen(Narrow<T>(sum));
        return sum;
      };
      double squares = 0;
      for (int64_t n = 0; n < a.N; ++n) squares += total(n) * total(n);
      const double scale = 1 / std::sqrt(squares / static_cast<double>(a.N) + eps);
      for (int64_t n = 0; n < a.N; ++n) {
        a.y[row + n] = Narrow<T>(total(n) * scale * Widen(a.weight[n]));
        a.total[row + n] = Narrow<T>(total(n));
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
