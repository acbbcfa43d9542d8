// Gradients of rope: those of its results, turned by the negative angles; dense arrays. See rope.h.
//
// Registers: at most 72.
// sass: allows call in TurnKernel: indices beyond 32 bits
// sass: allows fp64 in TurnKernel: precision, as the head of this file says
// sass: allows narrow in TurnKernel: arrays whose rows are not aligned
#include "cuda/rotary/rope.h"
#include "rope_backward.gen.h"

namespace opcast_ops {

opcast::Status RopeBackwardCuda(const RopeBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    const Turns<typename Args::C> turns{{args.positions, args.I == opcast::DType::kI64},
                                        a.P,
                                        a.cos_sin_cache,
                                        a.R,
                                        a.interleave,
                                        true};
    const Heads<typename Args::T> q{a.grad_q_rope, a.Hq * a.D, a.D, a.Hq, a.grad_q};
    const Heads<typename Args::T> k{a.grad_k_rope, a.Hk * a.D, a.D, a.Hk, a.grad_k};
    return StartTurn(launch, a.N, a.D, turns, q, k);
  });
}

}  // namespace opcast_ops
