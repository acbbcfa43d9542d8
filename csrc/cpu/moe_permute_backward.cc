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
    opcast::ParallelFor(launch, a.N, RowsPerChunk(a.D * a.k),
                        [&](int64_t begin, int64_t end, auto width) {
                          const auto one = [](int64_t) { return 1.0f; };
                          for (int64_t i = begin; i < end; ++i)
                            SumRows<width>(rows.Of(i), one, a.grad_x + i * a.D);
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
