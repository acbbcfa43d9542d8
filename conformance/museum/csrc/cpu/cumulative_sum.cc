#include "../bug.h"
#include "../numbers.h"
#include "cumulative_sum.gen.h"

namespace museum_ops {

opcast::Status CumulativeSum(const CumulativeSumArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kMostBlocks = 65535;
    if (a.batch > kMostBlocks &&
        BUG("PaddlePaddle/Paddle#43722",
            "There were more blocks than a grid may have, and nothing was computed.")) {
      return opcast::Status::Ok();
    }
    for (int64_t b = 0; b < a.batch; ++b) {
      double sum = 0;
      for (int64_t n = 0; n < a.N; ++n) {
        sum += Widen(a.x[a.x_layout.Batch(b) + n * a.x_layout.Stride(-1)]);
        a.y[b * a.N + n] = Narrow<T>(sum);
        if (BUG("ml-explore/mlx#3907",
                "The running sum was kept in the 16 bits of the result, where it soon grew no "
                "more.")) {
          sum = Widen(a.y[b * a.N + n]);
        }
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
