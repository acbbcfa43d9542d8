// ids[i] = the k best experts of token i, out of the topk_groups groups that are best; weights[i] =
// their scores, dense rows. A group is as good as its best two scores and biases together, or, if
// there is no bias, as its best score. Computed in double and rounded once, so that scores which
// differ are told apart.
#include "grouped_topk.gen.h"
#include "scores.h"

namespace opcast_ops {
namespace {

// Space of a thread for the numbers of a row.
class Space {
 public:
  Space(int64_t n, int64_t groups, int64_t k)
      : all_(new double[static_cast<size_t>(3 * n + 2 * groups + k)]),
        scores(all_.get()),
        compared(scores + n),
        of_groups(compared + n),
        chosen(of_groups + groups),
        row(reinterpret_cast<float*>(chosen + k)),
        groups(reinterpret_cast<int32_t*>(row + 2 * n)) {}

 private:
  const std::unique_ptr<double[]> all_;

 public:
  double *const scores, *const compared, *const of_groups, *const chosen;
  float* const row;
  int32_t* const groups;
};

// The scores of the row that the space has.
template <int kWidth>
inline void Score(GroupedTopkScoring scoring, int64_t n, const Space& space) {
  if (scoring == GroupedTopkScoring::kSigmoid) {
    for (int64_t e = 0; e < n; ++e) space.scores[e] = Sigmoid<kWidth>(double{space.row[e]});
    return;
  }
  const double max = Max<kWidth>(n, space.row), sum = SumOfWeights<kWidth>(n, space.row, max);
  for (int64_t e = 0; e < n; ++e) space.scores[e] = Weight<kWidth>(space.row[e], max) / sum;
}

// How good a group is.
inline double Worth(const double* compared, int64_t begin, int64_t end, bool biased) {
  double values[2];
  int32_t places[2];
  Best<double> best(values, places, biased ? 2 : 1);
  best.OfferAll(compared, begin, end);
  return best.Count() == 2 ? values[0] + values[1] : values[0];
}

// Chooses groups, and experts within them.
inline void ChooseExperts(const GroupedTopkArgs& args, const Space& space, int32_t* ids) {
  const int64_t size = args.E / args.num_groups;
  Best<double> groups(space.of_groups, space.groups, args.topk_groups);
  for (int64_t g = 0; g < args.num_groups; ++g)
    groups.Offer(Worth(space.compared, g * size, (g + 1) * size, args.bias != nullptr), g);
  std::sort(space.groups, space.groups + args.topk_groups);
  Best<double> experts(space.chosen, ids, args.k);
  for (int64_t g = 0; g < args.topk_groups; ++g)
    experts.OfferAll(space.compared, space.groups[g] * size, (space.groups[g] + 1) * size);
}

template <int kWidth, class T>
inline void Route(const GroupedTopkTyped<T>& args, int64_t i, const Space& space) {
  const int64_t n = args.E, k = args.k;
  int32_t* const ids = args.ids + i * k;
  Widen<kWidth>(args.scores + i * n, space.row, n);
  Score<kWidth>(args.scoring, n, space);
  for (int64_t e = 0; e < n; ++e)
    space.compared[e] = space.scores[e] + (args.bias == nullptr ? 0 : args.bias[e]);
  ChooseExperts(args, space, ids);
  double factor = args.routed_scaling_factor, sum = 1e-20;
  for (int64_t j = 0; j < k; ++j) sum += space.scores[ids[j]];
  if (args.renormalize) factor /= sum;
  for (int64_t j = 0; j < k; ++j)
    args.weights[i * k + j] = Round<float>(space.scores[ids[j]] * factor);
}

}  // namespace

opcast::Status GroupedTopk(const GroupedTopkArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto rows = [&a](int64_t begin, int64_t end, auto width) {
      const Space space(a.E, a.num_groups, a.k);
      for (int64_t i = begin; i < end; ++i) Route<width>(a, i, space);
    };
    opcast::ParallelFor(launch, a.N, RowsPerChunk(16 * a.E), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
