// y[i] = the sum over the slots s of weights[i, s] times the row that row_map[i, s] names, added in
// order and rounded once.
//
// Registers: at most 64.
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/moe/named_rows.h"
#include "moe_unpermute.gen.h"

namespace opcast_ops {

opcast::Status MoeUnpermuteCuda(const MoeUnpermuteArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SumOfRows<T, T, WeightOfItem> work{a.y, a.permuted, a.M, a.row_map, a.k, {a.weights}};
    return SumRows(a.N, a.D, launch, work);
  });
}

}  // namespace opcast_ops
