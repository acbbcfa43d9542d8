#include <cmath>

#include "cap_scores.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status CapScores(const CapScoresArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const auto* x = static_cast<const T*>(__builtin_assume_aligned(a.x, 16));
    opcast::ParallelFor(launch, a.batch * a.N, 1 << 12, [&a, x](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double y = Widen(x[i]) * a.scale;
        a.y[i] = Narrow<T>(a.cap ? *a.cap * std::tanh(y / *a.cap) : y);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
