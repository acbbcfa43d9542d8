// Gradients of rope: those of its results, turned by the negative angles; dense arrays. See rope.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/rotary/rope.h"
#include "rope_backward.gen.h"

namespace opcast_ops {

opcast::Status RopeBackward(const RopeBackwardArgs& args, const opcast::Launch& launch) {
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
    return Turn(launch, a.N, a.D, turns, q, k);
  });
}

}  // namespace opcast_ops
