// y[i] = the sum over the slots s of weights[i, s] times the row that row_map[i, s] names, added in
// order and rounded once.
#include "moe_unpermute.gen.h"
#include "named_rows.h"

namespace opcast_ops {

opcast::Status MoeUnpermute(const MoeUnpermuteArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const NamedRows<T> rows{a.permuted, a.D, a.row_map, a.k};
    opcast::ParallelFor(
        launch, a.N, RowsPerChunk(a.D * a.k), [&](int64_t begin, int64_t end, auto width) {
          for (int64_t i = begin; i < end; ++i) {
            const auto weight = [of_token = a.weights + i * a.k](int64_t s) { return of_token[s]; };
            SumRows<width>(rows.Of(i), weight, a.y + i * a.D);
          }
        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
