#include "numbers.h"
#include "shift_tokens.gen.h"

namespace inference_ops {

opcast::Status ShiftTokens(const ShiftTokensArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    opcast::ParallelFor(launch, a.S, 64, [&a](int64_t begin, int64_t end) {
      for (int64_t s = begin; s < end; ++s) {
        const bool first = s == 0 || (a.seq_idx != nullptr && a.seq_idx[s] != a.seq_idx[s - 1]);
        for (int64_t d = 0; d < a.D; ++d) {
          const double x = Widen(a.x[s * a.D + d]);
          const double before = first ? 0 : Widen(a.x[(s - 1) * a.D + d]);
          a.y[s * a.D + d] = Narrow<T>(x + (before - x) * Widen(a.mix[d]));
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
