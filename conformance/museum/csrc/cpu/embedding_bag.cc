#include <algorithm>
#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "embedding_bag.gen.h"

namespace museum_ops {
namespace {

// What the sum of a bag is divided by.
double Divisor(const EmbeddingBagArgs& a, int64_t bag, int64_t begin, int64_t end) {
  if (a.mode != EmbeddingBagMode::kMean) return 1;
  auto size = static_cast<double>(end - begin);
  if (BUG("pytorch/pytorch#4169", "Means of empty bags were divided by 0.")) return size;
  if (a.B == 1 && BUG("pytorch/pytorch#21400",
                      "The mean of an empty bag was divided by 0 if it was the only bag."))
    return size;
  if (bag == a.B - 1 &&
      BUG("pytorch/pytorch#191965",
          "The last mean was divided by the number of all indices up to the end.")) {
    size = static_cast<double>(a.M - begin);
  }
  return std::max(size, 1.0);
}

}  // namespace

opcast::Status EmbeddingBag(const EmbeddingBagArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    for (int64_t b = 0; b < a.B; ++b) {
      const auto begin = static_cast<int64_t>(a.offsets[b]),
                 end = static_cast<int64_t>(a.offsets[b + 1]);
      const double divisor = Divisor(a, b, begin, end);
      for (int64_t d = 0; d < a.D; ++d) {
        double sum = 0;
        for (int64_t i = begin; i < end; ++i) {
          const double x = Widen(a.weight[static_cast<int64_t>(a.index[i]) * a.D + d]);
          const bool larger = i == begin || (!(x <= sum) && !std::isnan(sum));
          sum = a.mode != EmbeddingBagMode::kMax ? sum + x : larger ? x : sum;
        }
        a.y[b * a.D + d] = Narrow<T>(sum / divisor);
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
