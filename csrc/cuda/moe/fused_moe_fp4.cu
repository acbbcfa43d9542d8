// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v, where w1 and w2 are numbers of 4 bits times
// the scales of their groups and w1_alpha[e], w2_alpha[e]. See expert_layers.h.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "common/e2m1.h"
#include "cuda/moe/scaled_experts.h"
#include "fused_moe_fp4.gen.h"

namespace opcast_ops {
namespace {

// Codes as numbers of ScaledFactor.
struct Codes {
  const uint8_t* data;

  OPCAST_DEVICE Codes At(int64_t element) const { return {data + (element >> 1)}; }
  OPCAST_DEVICE float Number(int64_t k) const { return E2m1(CodeAt(data, k)); }
};

template <class Args>
opcast::Status Run(const Args& a, const opcast::Launch& launch) {
  const opcast::Status status = GroupRows(a, launch);
  if (!status.ok()) return status;
  using Scales = BlockScales<typename Args::S>;
  using Weights = ScaledRows<Codes, typename Args::S>;
  const Scales first(a.w1_scale, 1, a.D, 1, a.G1), second(a.w2_scale, 1, a.I, 1, a.G2);
  const DenseRows<typename Args::T> rows{a.permuted, a.N * a.k, a.D};
  return RunExperts(a, rows, Weights{{a.w1}, first, 2 * a.I, a.D, a.w1_alpha},
                    Weights{{a.w2}, second, a.D, a.I, a.w2_alpha}, launch);
}

}  // namespace

opcast::Status FusedMoeFp4Cuda(const FusedMoeFp4Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return Run(a, launch); });
}

}  // namespace opcast_ops
