// v = the sum of e^s v over the parts, divided by that of e^s, and s its logarithm, for each row:
// see merge.h for the precision. Parts whose log-sum-exp is -inf are not read.
#include "common/standard.h"

#include "merge.h"
#include "merge_states.gen.h"
#include "rows.h"

namespace opcast_ops {

opcast::Status MergeStates(const MergeStatesArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.D, each = a.S * a.H;
    const auto merge = [&a, n, each](int64_t begin, int64_t end, auto vector) {
      Parts<T> parts(a.S);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i / a.H * each + i % a.H;
        parts.Clear();
        for (int64_t at = first; at < first + each; at += a.H)
          parts.Add(a.v_parts + at * n, a.s_parts[at]);
        parts.template Merge<vector>(n, a.v + i * n, a.s + i);
      }
    };
    opcast::ParallelFor(launch, a.N * a.H, RowsPerChunk(n * a.S), merge);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
