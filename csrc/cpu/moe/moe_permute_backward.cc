// grad_x[i] = the sum of the rows of grad_permuted that row_map names for token i, added in order:
// in float for results of 16 bits where that costs less than a quarter of their last place (see
// checked_float_sums.h), else in double.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/named_rows.h"
#include "moe_permute_backward.gen.h"

namespace opcast_ops {

opcast::Status MoePermuteBackward(const MoePermuteBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const NamedRows<T> rows{a.grad_permuted, a.D, a.row_map, a.k};
    return SumTokens(launch, rows, a.N, [](int64_t) { return Ones(); }, a.grad_x);
  });
}

}  // namespace opcast_ops
