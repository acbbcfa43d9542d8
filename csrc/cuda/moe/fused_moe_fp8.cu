// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v, where blocks of w1, w2 and x have scales.
// See expert_layers.h.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/moe/scaled_experts.h"
#include "fused_moe_fp8.gen.h"

namespace opcast_ops {
namespace {

template <class Args>
opcast::Status Run(const Args& a, const opcast::Launch& launch) {
  opcast::Status status = GroupRows(a, launch);
  if (!status.ok()) return status;
  status = GroupScales(a, launch);
  if (!status.ok()) return status;
  using Scales = BlockScales<float>;
  const ScaledRows<Elements<typename Args::T>, float> rows{
      {a.permuted}, Scales(a.permuted_scale, 1, a.D, 1, a.C1), a.N * a.k, a.D};
  using Weights = ScaledRows<Elements<typename Args::W>, float>;
  const Scales first(a.w1_scale, 2 * a.I, a.D, a.R1, a.C1);
  const Scales second(a.w2_scale, a.D, a.I, a.R2, a.C2);
  return RunExperts(a, rows, Weights{{a.w1}, first, 2 * a.I, a.D},
                    Weights{{a.w2}, second, a.D, a.I}, launch);
}

}  // namespace

opcast::Status FusedMoeFp8Cuda(const FusedMoeFp8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return Run(a, launch); });
}

}  // namespace opcast_ops
