// y[i] = the sum over the slots s of weights[i, s] times the row that row_map[i, s] names, added in
// order: in float for results of 16 bits where that costs less than a quarter of their last place
// (see checked_float_sums.h), else in double.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/named_rows.h"
#include "moe_unpermute.gen.h"

namespace opcast_ops {

opcast::Status MoeUnpermute(const MoeUnpermuteArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const NamedRows<T> rows{a.permuted, a.D, a.row_map, a.k};
    const auto weight_of = [&a](int64_t i) {
      return [of_token = a.weights + i * a.k](int64_t s) { return of_token[s]; };
    };
    return SumTokens(launch, rows, a.N, weight_of, a.y);
  });
}

}  // namespace opcast_ops
