#include <cmath>

#include "add_rms_norm.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status AddRmsNorm(const AddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.batch, 1, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* x = a.x + i * a.N;
        T* residual = a.residual == nullptr ? nullptr : a.residual + i * a.N;
        T* y = a.y + i * a.N;
        auto total = [x, residual](int64_t j) {
          return Widen(x[j]) + (residual == nullptr ? 0 : Widen(residual[j]));
        };
        double squares = 0;
        for (int64_t j = 0; j < a.N; ++j) squares += total(j) * total(j);
        const double scale = 1 / std::sqrt(squares / static_cast<double>(a.N) + a.eps);
        for (int64_t j = 0; j < a.N; ++j) {
          const double sum = total(j);
          y[j] = Narrow<T>(sum * scale * Widen(a.weight[j]));
          if (residual != nullptr) residual[j] = Narrow<T>(sum);
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
