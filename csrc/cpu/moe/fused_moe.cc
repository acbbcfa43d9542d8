// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v. See expert_layers.h, and gemm_blocks.h for
// the products.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/expert_layers.h"
#include "fused_moe.gen.h"

namespace opcast_ops {

opcast::Status FusedMoe(const FusedMoeArgs& args, const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.E};
  const PermutedPlaces places{args.row_map, args.offsets};
  FindPlaces(items, args.counts, places);
  return Visit(args, [&](const auto& a) {
    static_assert(kIsFactor<typename std::decay_t<decltype(a)>::T>);
    const RowGroups experts{a.offsets, a.E};
    const int64_t rows = a.N * a.k;
    PermuteRows(launch, a.x, a.D, a.k, items, places, a.permuted);
    ForGroups(launch, experts, BlocksLike(rows, a.E, 2 * a.I, a.D), {args.T, a.permuted, a.D},
              {args.T, a.w1, a.D}, 2 * a.I, BiasedRows{experts, a.w1_bias, 2 * a.I, a.hidden});
    Gate(a, launch);
    ForGroups(launch, experts, BlocksLike(rows, a.E, a.D, a.I),
              {opcast::DType::kF32, a.hidden, 2 * a.I}, {args.T, a.w2, a.I}, a.D,
              BiasedRows{experts, a.w2_bias, a.D, a.made});
    AddUp(a, launch);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
