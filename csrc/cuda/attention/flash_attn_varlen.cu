// o = softmax(sm_scale * q @ k.T) @ v and the logarithm of the softmax's denominator, for each
// sequence and head, over the keys that a query sees: see attention.h.
//
// Registers: at most 72.
// sass: allows generic in AttentionKernel: tiles are passed to functions by pointers
// sass: allows narrow in AttentionKernel: rows at any address
#include "cuda/attention/ragged_sequences.h"
#include "flash_attn_varlen.gen.h"

namespace opcast_ops {

opcast::Status FlashAttnVarlenCuda(const FlashAttnVarlenArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const opcast::Layout& q = a.q_layout;
    const DenseSequences<T> source = SequencesOf<T>(a);
    const bool whole = AlignedRows<T>({a.q, a.k}, a.D) &&
                       AllWhole<T>({q.Stride(-3), q.Stride(-2), source.k_token, source.k_head});
    const AttentionCall<T, DenseSequences<T>> call{
        source,       SightOf(a.causal, a.window_left, a.sm_scale, a.soft_cap),
        a.q,          q.Stride(-3),
        q.Stride(-2), a.sinks,
        a.o,          a.lse,
        a.Tq,         a.Hq,
        a.Hq / a.Hk,  a.D,
        a.Dv};
    return Attend(launch, whole, call);
  });
}

}  // namespace opcast_ops
