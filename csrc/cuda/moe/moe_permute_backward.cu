// grad_x[i] = the sum of the rows of grad_permuted that row_map names for token i, added in order
// and rounded once.
//
// Registers: at most 64.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/moe/named_rows.h"
#include "moe_permute_backward.gen.h"

namespace opcast_ops {

opcast::Status MoePermuteBackwardCuda(const MoePermuteBackwardArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SumOfRows<T, T, NoWeight> work{a.grad_x, a.grad_permuted, a.N * a.k, a.row_map, a.k, {}};
    return SumRows(a.N, a.D, launch, work);
  });
}

}  // namespace opcast_ops
