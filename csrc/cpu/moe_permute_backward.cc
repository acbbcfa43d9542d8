// grad_x[i] = the sum of the rows of grad_permuted that row_map names for token i, added in order
// and rounded once.
#include "moe_permute_backward.gen.h"
#include "named_rows.h"

namespace opcast_ops {

opcast::Status MoePermuteBackward(const MoePermuteBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const NamedRows<T> rows{a.grad_permuted, a.D, a.row_map, a.k};
    const auto one_of = [](int64_t) { return [](int64_t) { return 1.0f; }; };
    return SumTokens(launch, rows, a.N, one_of, a.grad_x);
  });
}

}  // namespace opcast_ops
