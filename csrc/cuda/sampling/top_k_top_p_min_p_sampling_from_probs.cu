// ids[b] = a draw by inverse distribution, in the order of ids, from what three filters leave of
// row b: see filters.h. Sums are double.
//
// Registers: at most 128.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
#include "common/philox.h"
#include "cuda/lib/row_kernels.h"
#include "cuda/sampling/filters.h"
#include "cuda/sampling/weighted_draw.h"
#include "top_k_top_p_min_p_sampling_from_probs.gen.h"

namespace opcast_ops {
namespace {

template <class S>
struct SamplingRow {
  using Element = float;
  int32_t* ids;
  opcast::Scalar<S> seed, offset;
  Filters filters;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const Left left = filters.Of(member, row, there);
    const auto weight = [&left](int64_t i) { return left.Weight(i); };
    const double uniform = RandomStream(*seed, *offset).UniformAt(there ? row : 0);
    const int64_t id = Draw(member, there ? member.n() : 0, weight, uniform);
    if (member.Writes(row)) ids[row] = opcast::Narrow<int32_t>(id);
  }
};

}  // namespace

opcast::Status TopKTopPMinPSamplingFromProbsCuda(const TopKTopPMinPSamplingFromProbsArgs& args,
                                                 const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using S = typename std::decay_t<decltype(a)>::S;
    const Filters filters{a.probs, a.top_k, a.top_p, a.min_p};
    return ForRows(a.B, a.V, false, launch, SamplingRow<S>{a.ids, a.seed, a.offset, filters});
  });
}

}  // namespace opcast_ops
