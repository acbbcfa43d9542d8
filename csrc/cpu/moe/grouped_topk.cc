// ids[i] = the k best experts of token i, out of the topk_groups groups that are best; weights[i] =
// their scores, dense rows. A group is as good as its best two scores and biases together, or, if
// there is no bias, as its best score. Computed in double and rounded once, so that scores which
// differ are told apart.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/expert_scores.h"
#include "grouped_topk.gen.h"

namespace opcast_ops {
namespace {

// The scores of the row that the space has.
template <int kWidth>
inline void Score(GroupedTopkScoring scoring, int64_t n, const ScoreSpace& space) {
  double* const scores = space.scores;
  if (scoring == GroupedTopkScoring::kSigmoid) {
    const auto sigmoid = [](float x) { return Sigmoid<kWidth>(double{x}); };
    return MapScores<kWidth>(n, sigmoid, space.row, scores);
  }
  const double max = Max<kWidth>(n, space.row);
  const double sum = MakeWeights<kWidth>(n, space.row, max, scores);
  MapScores<kWidth>(n, [=](double weight) { return weight / sum; }, scores, scores);
}

// How good a group is, by the keys of its experts.
inline double Worth(const int64_t* keys, int64_t count, bool biased) {
  int64_t first = keys[0], second = kTaken;
  for (int64_t e = 1; e < count; ++e) {
    second = std::max(second, std::min(first, keys[e]));
    first = std::max(first, keys[e]);
  }
  return biased && count > 1 ? OfKey(first) + OfKey(second) : OfKey(first);
}

// Takes the experts of all groups but the best ones.
template <int kWidth>
inline void TakeGroups(const GroupedTopkArgs& args, const ScoreSpace& space) {
  const int64_t count = args.num_groups, size = args.E / count;
  for (int64_t g = 0; g < count; ++g)
    space.more_keys[g] = KeyOf(Worth(space.keys + g * size, size, args.bias != nullptr));
  std::fill_n(space.more_keys + count, kScoreRoom, kTaken);
  for (int64_t j = 0; j < args.topk_groups; ++j) TakeFirst<kWidth>(count, space.more_keys);
  for (int64_t g = 0; g < count; ++g) {
    if (space.more_keys[g] != kTaken) std::fill_n(space.keys + g * size, size, kTaken);
  }
}

template <int kWidth, class T>
inline void Route(const GroupedTopkTyped<T>& args, int64_t i, const ScoreSpace& space) {
  const int64_t n = args.E, k = args.k;
  int32_t* const ids = args.ids + i * k;
  Widen<kWidth>(args.scores + i * n, space.row, n);
  Score<kWidth>(args.scoring, n, space);
  for (int64_t e = 0; e < n; ++e)
    space.keys[e] = KeyOf(space.scores[e] + (args.bias == nullptr ? 0.0 : double{args.bias[e]}));
  std::fill_n(space.keys + n, kScoreRoom, kTaken);
  TakeGroups<kWidth>(args, space);
  for (int64_t j = 0; j < k; ++j)
    ids[j] = opcast::Narrow<int32_t>(TakeFirst<kWidth>(n, space.keys));
  double factor = args.routed_scaling_factor;
  if (args.renormalize) factor /= Sum(k, [&](int64_t j) { return space.scores[ids[j]]; }) + 1e-20;
  for (int64_t j = 0; j < k; ++j)
    args.weights[i * k + j] = Round<float>(space.scores[ids[j]] * factor);
}

}  // namespace

opcast::Status GroupedTopk(const GroupedTopkArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const ScoreSpace space(a.E, a.num_groups);
      for (int64_t i = begin; i < end; ++i) Route<width>(a, i, space);
    };
    opcast::ParallelFor(launch, a.N, RowsPerChunk(8 * a.E), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
