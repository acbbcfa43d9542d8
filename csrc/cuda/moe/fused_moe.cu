// y[t] = the sum over slots s of topk_weights[t, s] * (w2[e] @ (act(g) * v) + w2_bias[e]) for e =
// topk_ids[t, s] and w1[e] @ x[t] + w1_bias[e] = g, v. See expert_layers.h.
//
// Registers: at most 128.
// sass: allows narrow in GroupedRowsKernel: arrays whose rows are not aligned
// sass: allows call in PlaceItemsKernel: indices beyond 32 bits
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/moe/expert_layers.h"
#include "fused_moe.gen.h"

namespace opcast_ops {
opcast::Status FusedMoeCuda(const FusedMoeArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Dense = DenseRows<typename std::decay_t<decltype(a)>::T>;
    const opcast::Status status = GroupRows(a, launch);
    if (!status.ok()) return status;
    return RunExperts(a, Dense{a.permuted, a.N * a.k, a.D}, Dense{a.w1, 2 * a.I, a.D},
                      Dense{a.w2, a.D, a.I}, launch);
  });
}

}  // namespace opcast_ops
