// The first R columns of the heads of q and k, turned in pairs by the angles of each token's
// position; rows of heads are contiguous, tokens and heads may lie anywhere. See rope.h.
//
// Registers: at most 72.
// sass: allows call in TurnKernel: indices beyond 32 bits
// sass: allows fp64 in TurnKernel: precision, as the head of this file says
// sass: allows narrow in TurnKernel: arrays whose rows are not aligned
#include "cuda/rotary/rope.h"
#include "rope.gen.h"

namespace opcast_ops {

opcast::Status RopeCuda(const RopeArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const Turns<typename Args::C> turns{{args.positions, args.I == opcast::DType::kI64},
                                        a.P,
                                        a.cos_sin_cache,
                                        a.R,
                                        a.interleave,
                                        false};
    const Heads<typename Args::T> q{a.q, a.q_layout.Stride(-3), a.q_layout.Stride(-2), a.Hq,
                                    a.q_rope};
    const Heads<typename Args::T> k{a.k, a.k_layout.Stride(-3), a.k_layout.Stride(-2), a.Hk,
                                    a.k_rope};
    return StartTurn(launch, a.N, a.D, turns, q, k);
  });
}

}  // namespace opcast_ops
