// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v, where blocks of w1, w2 and x have scales.
// See expert_layers.h, and scaled_experts.h for the products.
#include "cpu/lib/standard_headers.h"

#include "cpu/moe/scaled_experts.h"
#include "fused_moe_fp8.gen.h"

namespace opcast_ops {
opcast::Status FusedMoeFp8(const FusedMoeFp8Args& args, const opcast::Launch& launch) {
  const Items items{args.topk_ids, args.N * args.k, args.E};
  const PermutedPlaces places{args.row_map, args.offsets};
  FindPlaces(items, args.counts, places);
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    PermuteRows(launch, a.x, a.D, a.k, items, places, a.permuted);
    if (a.x_scale != nullptr)
      PermuteRows(launch, a.x_scale, a.C1, a.k, items, places, a.permuted_scale);
    const float* const scale = a.x_scale == nullptr ? nullptr : a.permuted_scale;
    const ScaledRows<typename Args::T, float> rows{a.permuted, a.D,
                                                   ScalesOf(scale, 1, a.D, 1, a.C1)};
    using Weights = ScaledRows<typename Args::W, float>;
    RunExperts(a, rows, Weights{a.w1, a.D, ScalesOf(a.w1_scale, 2 * a.I, a.D, a.R1, a.C1)},
               Weights{a.w2, a.I, ScalesOf(a.w2_scale, a.D, a.I, a.R2, a.C2)}, launch);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
