#include <algorithm>
#include <vector>

#include "../bug.h"
#include "../numbers.h"
#include "embedding_gradient.gen.h"

namespace museum_ops {
namespace {

// How many rows a mean is over.
template <class Typed>
double Count(const Typed& a, int64_t row) {
  double count = 0;
  for (int64_t m = 0; m < a.M; ++m) {
    if (static_cast<int64_t>(a.index[m]) == row) ++count;
    if (BUG("pytorch/pytorch#139242",
            "Rows of a mean were counted in the dtype of the array, which in bfloat16 ends at "
            "256.")) {
      count = Widen(Narrow<typename Typed::T>(count));
    }
  }
  return std::max(count, 1.0);
}

}  // namespace

opcast::Status EmbeddingGradient(const EmbeddingGradientArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const bool sorts = a.M > 768;  // many indices are sorted, in another kernel
    const int64_t last = sorts && BUG("pytorch/pytorch#27731",
                                      "With more than 768 indices, one of them was dropped.")
                             ? a.M - 1
                             : a.M;
    std::vector<double> sums(static_cast<size_t>(a.rows * a.D));
    for (int64_t m = 0; m < last; ++m) {
      const auto row = static_cast<int64_t>(a.index[m]);
      if (row == a.padding_index &&
          !(sorts &&
            BUG("pytorch/pytorch#28716",
                "With more than 768 indices, the row of the padding had a gradient, too."))) {
        continue;
      }
      for (int64_t d = 0; d < a.D; ++d)
        sums[static_cast<size_t>(row * a.D + d)] += Widen(a.grad_y[m * a.D + d]);
    }
    for (int64_t row = 0; row < a.rows; ++row) {
      const double count = a.mean ? Count(a, row) : 1;
      for (int64_t d = row * a.D; d < (row + 1) * a.D; ++d)
        a.grad[d] = Narrow<T>(sums[static_cast<size_t>(d)] / count);
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
