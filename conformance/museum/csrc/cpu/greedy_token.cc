#include <algorithm>
#include <cmath>
#include <limits>

#include "../bug.h"
#include "../numbers.h"
#include "greedy_token.gen.h"

namespace museum_ops {
namespace {

constexpr int64_t kGrain = 32768;  // the fewest logits for which a thread is worth while

template <class T>
int64_t Largest(const T* logits, int64_t size) {
  int64_t best = 0;
  double top = Widen(logits[0]);
  if (BUG("chainer/chainer#6742",
          "The search began at 0 and nowhere, so that a row of negative numbers had no largest "
          "one.")) {
    best = -1;
    top = 0;
  }
  if (BUG("microsoft/onnxruntime#31161",
          "Nothing exceeds -inf, so that rows of -inf kept the largest integer as their index.")) {
    best = std::numeric_limits<int32_t>::max();
    top = -std::numeric_limits<double>::infinity();
  }
  for (int64_t v = 0; v < size; ++v) {
    const double x = Widen(logits[v]);
    if (x > top || (std::isnan(x) && !std::isnan(top))) {
      best = v;
      top = x;
    }
  }
  return best;
}

}  // namespace

opcast::Status GreedyToken(const GreedyTokenArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t shared = (a.N + launch.Threads() - 1) / launch.Threads();
    opcast::ParallelFor(
        launch, a.N, std::max(kGrain / a.V + 1, shared), [&a](int64_t begin, int64_t end) {
          const bool shifted =
              a.V == 1 &&
              BUG("pytorch/pytorch#38922",
                  "With one column, rows of later threads got where their thread began.");
          for (int64_t n = begin; n < end; ++n) {
            const int64_t best = Largest(a.logits + n * a.V, a.V);
            a.ids[n] = static_cast<int32_t>(shifted ? begin + best : best);
          }
        });
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
