// renorm_probs[b, i] = probs[b, i] / the sum of what three filters leave of row b, where they leave
// it: see filters.h. The sum is double, as is the product with its reciprocal.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/map_elements.h"
#include "cpu/sampling/filters.h"
#include "top_k_top_p_min_p_renorm_probs.gen.h"

namespace opcast_ops {
namespace {

template <int kWidth>
inline void Renormalise(const Left& left, int64_t n, float* y) {
  const auto weight = left.Weight();
  const double sum = Sum(left.n, weight), scale = sum > 0 ? 1 / sum : 0;
  if (left.places == nullptr) {
    const double floor = left.floor;
    const auto share = [scale, floor](float x) {
      const double own = x;
      return Select((own > 0) & (own >= floor), own, 0.0) * scale;
    };
    return Map<kWidth>(n, share, y, left.x);
  }
  std::fill_n(y, n, 0.0f);
  for (int64_t i = 0; i < left.n; ++i) y[left.places[i]] = Round<float>(weight(i) * scale);
}

}  // namespace

opcast::Status TopKTopPMinPRenormProbs(const TopKTopPMinPRenormProbsArgs& args,
                                       const opcast::Launch& launch) {
  const auto rows = [&args](int64_t begin, int64_t end, auto width) {
    Filters filters;
    for (int64_t row = begin; row < end; ++row)
      Renormalise<width>(filters.Of<width>(args, row), args.V, args.renorm_probs + row * args.V);
  };
  opcast::ParallelFor(launch, args.B, RowsPerChunk(args.V), rows);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
