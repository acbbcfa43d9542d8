// v = (e^s_a v_a + e^s_b v_b) / (e^s_a + e^s_b) and s = log(e^s_a + e^s_b) for each row, dense
// rows: see merge.h for the precision. A part whose log-sum-exp is -inf is not read.
#include "merge.h"
#include "merge_state.gen.h"
#include "rows.h"

namespace opcast_ops {

opcast::Status MergeState(const MergeStateArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D;
    opcast::ParallelFor(launch, a.N * a.H, RowsPerChunk(n),
                        [&a, n](int64_t begin, int64_t end, auto vector) {
                          Parts<T> parts(2);
                          for (int64_t i = begin; i < end; ++i) {
                            parts.Clear();
                            parts.Add(a.v_a + i * n, a.s_a[i]);
                            parts.Add(a.v_b + i * n, a.s_b[i]);
                            parts.template Merge<vector>(n, a.v + i * n, a.s + i);
                          }
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
