// ids[b] = a draw by inverse distribution, in the order of ids, from what three filters leave of
// row b: see filters.h. Sums are double.
#include "cpu/lib/standard_headers.h"

#include "common/philox.h"
#include "cpu/sampling/filters.h"
#include "cpu/sampling/weighted_draw.h"
#include "top_k_top_p_min_p_sampling_from_probs.gen.h"

namespace opcast_ops {

opcast::Status TopKTopPMinPSamplingFromProbs(const TopKTopPMinPSamplingFromProbsArgs& args,
                                             const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const RandomStream stream(*a.seed, *a.offset);
    const auto rows = [&](int64_t begin, int64_t end, auto width) {
      Filters filters;
      for (int64_t row = begin; row < end; ++row) {
        const Left left = filters.Of<width>(a, row);
        const int64_t i = Draw(left.n, left.Weight(), stream.UniformAt(row));
        a.ids[row] = opcast::Narrow<int32_t>(i < 0 ? i : left.Place(i));
      }
    };
    opcast::ParallelFor(launch, a.B, RowsPerChunk(a.V), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
