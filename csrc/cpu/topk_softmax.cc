// ids[i] = the k largest of row i of gating, dense rows; weights[i] = their softmax over the row,
// divided by their sum if asked. Logits are compared as they are. Computed in double and rounded
// once: exponentials of differences of floats would lose up to 64 ulp.
#include "scores.h"
#include "topk_softmax.gen.h"

namespace opcast_ops {
namespace {

// Space of a thread: a row, and the chosen of its numbers.
struct Space {
  Space(int64_t n, int64_t k) : all(n + k), row(all.Floats()), chosen(row + n) {}

  const FloatSpace all;
  float *const row, *const chosen;
};

template <int kWidth, class T>
inline void Choose(const TopkSoftmaxTyped<T>& args, int64_t i, const Space& space) {
  const int64_t n = args.E, k = args.k;
  Widen<kWidth>(args.gating + i * n, space.row, n);
  Best<float> best(space.chosen, args.ids + i * k, k);
  best.OfferAll(space.row, 0, n);
  const double max = best.Value(0);
  double sum = SumOfWeights<kWidth>(n, space.row, max);
  if (args.renormalize && sum == sum) sum = SumOfWeights<kWidth>(k, space.chosen, max);
  float* const weights = args.weights + i * k;
  for (int64_t j = 0; j < k; ++j)
    weights[j] = Round<float>(Weight<kWidth>(best.Value(j), max) / sum);
}

}  // namespace

opcast::Status TopkSoftmax(const TopkSoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const Space space(a.E, a.k);
      for (int64_t i = begin; i < end; ++i) Choose<width>(a, i, space);
    };
    opcast::ParallelFor(launch, a.N, RowsPerChunk(8 * a.E), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
