#include "../bug.h"
#include "../numbers.h"
#include "expert_rows.gen.h"

namespace museum_ops {

opcast::Status ExpertRows(const ExpertRowsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool unchecked =
        BUG("deepseek-ai/DeepGEMM#38",
            "Rows marked with -1 were not skipped: a matrix was read before the first one.");
    for (int64_t m = 0; m < a.M; ++m) {
      const int64_t expert = a.experts[m];
      const bool none = expert < 0 && !unchecked;
      for (int64_t n = 0; n < a.N; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < a.K && !none; ++k)
          sum += Widen(a.x[m * a.K + k]) * Widen(a.w[(expert * a.K + k) * a.N + n]);
        a.y[m * a.N + n] = Narrow<T>(sum);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
