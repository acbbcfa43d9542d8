#include "../bug.h"
#include "../numbers.h"
#include "combine_experts.gen.h"

namespace museum_ops {

opcast::Status CombineExperts(const CombineExpertsArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool rounds = BUG("vllm-project/vllm#15045",
                            "The sum was kept in the dtype of the rows, which has few digits.");
    for (int64_t n = 0; n < a.N; ++n) {
      for (int64_t d = 0; d < a.D; ++d) {
        double sum = 0;
        for (int64_t k = n * a.K; k < (n + 1) * a.K; ++k) {
          if (!a.kept[k]) continue;
          sum += Widen(a.x[k * a.D + d]) * static_cast<double>(a.weights[k]);
          if (rounds) sum = Widen(Narrow<T>(sum));
        }
        a.y[n * a.D + d] = Narrow<T>(sum);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
