// ids[i] = the k largest of row i of gating, dense rows; weights[i] = their softmax over the row,
// divided by their sum if asked. Logits are compared as they are. Computed in double and rounded
// once: exponentials of differences of floats would lose up to 64 ulp.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/expert_scores.h"
#include "topk_softmax.gen.h"

namespace opcast_ops {
namespace {

template <int kWidth, class T>
inline void Choose(const TopkSoftmaxTyped<T>& args, int64_t i, const ScoreSpace& space) {
  const int64_t n = args.E, k = args.k;
  int32_t* const ids = args.ids + i * k;
  Widen<kWidth>(args.gating + i * n, space.row, n);
  MapScores<kWidth>(n, [](float x) { return double{x}; }, space.row, space.scores);
  MakeKeys<kWidth>(n, space.scores, space.keys);
  for (int64_t j = 0; j < k; ++j)
    ids[j] = opcast::Narrow<int32_t>(TakeFirst<kWidth>(n, space.keys));
  double sum = MakeWeights<kWidth>(n, space.row, space.row[ids[0]], space.scores);
  if (args.renormalize && sum == sum) sum = Sum(k, [&](int64_t j) { return space.scores[ids[j]]; });
  for (int64_t j = 0; j < k; ++j)
    args.weights[i * k + j] = Round<float>(space.scores[ids[j]] / sum);
}

}  // namespace

opcast::Status TopkSoftmax(const TopkSoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const ScoreSpace space(a.E);
      for (int64_t i = begin; i < end; ++i) Choose<width>(a, i, space);
    };
    opcast::ParallelFor(launch, a.N, RowsPerChunk(4 * a.E), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
