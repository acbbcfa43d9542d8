// renorm_probs[b, i] = probs[b, i] / the sum of what three filters leave of row b, where they leave
// it: see filters.h. The sum is double, as is the product with its reciprocal.
//
// Registers: at most 128.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
#include "cuda/lib/row_kernels.h"
#include "cuda/sampling/filters.h"
#include "top_k_top_p_min_p_renorm_probs.gen.h"

namespace opcast_ops {
namespace {

struct RenormRow {
  using Element = float;
  float* renorm_probs;
  Filters filters;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = there ? member.n() : 0;
    const Left left = filters.Of(member, row, there);
    double sum = 0;
    for (int64_t i = member.index(); i < n; i += member.threads()) sum += left.Weight(i);
    sum = member.Sum(sum);
    const double scale = sum > 0 ? 1 / sum : 0;
    float* const y = renorm_probs + row * member.n();
    for (int64_t i = member.index(); i < n; i += member.threads())
      y[i] = static_cast<float>(left.Weight(i) * scale);
  }
};

}  // namespace

opcast::Status TopKTopPMinPRenormProbsCuda(const TopKTopPMinPRenormProbsArgs& args,
                                           const opcast::Launch& launch) {
  const Filters filters{args.probs, args.top_k, args.top_p, args.min_p};
  return ForRows(args.B, args.V, false, launch, RenormRow{args.renorm_probs, filters});
}

}  // namespace opcast_ops
