// The first R columns of the heads of q and k, turned in pairs by the angles of each token's
// position; rows of heads are contiguous, tokens and heads may lie anywhere. See rope.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/rotary/rope.h"

#include "rope.gen.h"

namespace opcast_ops {

OPCAST_TURN(float, float);
OPCAST_TURN(opcast::f16, float);
OPCAST_TURN(opcast::f16, opcast::f16);
OPCAST_TURN(opcast::bf16, float);
OPCAST_TURN(opcast::bf16, opcast::bf16);

opcast::Status Rope(const RopeArgs& args, const opcast::Launch& launch) {
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
    return Turn(launch, a.N, a.D, turns, q, k);
  });
}

}  // namespace opcast_ops
