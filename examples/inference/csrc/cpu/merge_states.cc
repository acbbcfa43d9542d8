#include <cmath>
#include <limits>

#include "merge_states.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status MergeStates(const MergeStatesArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.N * a.H, 64, [&a](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const double x = Widen(a.a_lse[i]), y = Widen(a.b_lse[i]), top = std::fmax(x, y);
        // Nothing at all has no shares; an infinite sum stays one.
        const bool empty = top == -std::numeric_limits<double>::infinity();
        const double lse =
            std::isinf(top) ? top : top + std::log(std::exp(x - top) + std::exp(y - top));
        const double share_x = empty ? 0 : std::exp(x - lse);
        const double share_y = empty ? 0 : std::exp(y - lse);
        for (int64_t d = i * a.D; d < (i + 1) * a.D; ++d) {
          a.o[d] = Narrow<T>(Widen(a.a[d]) * share_x + Widen(a.b[d]) * share_y);
        }
        if (a.lse) a.lse[i] = static_cast<float>(lse);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
