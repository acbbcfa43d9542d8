// Accepts draft tokens of each row up to the first with u * draft_probs >= target_probs, where u is
// a uniform number, and draws one more by inverse distribution, in the order of ids: from what
// target_probs has more than draft_probs where a token was refused, from target_probs behind the
// last. Products, differences and sums are double.
//
// Registers: at most 96.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
#include "chain_speculative_sampling.gen.h"
#include "common/philox.h"
#include "cuda/lib/row_kernels.h"
#include "cuda/sampling/weighted_draw.h"

namespace opcast_ops {
namespace {

template <class I>
struct ChainRow {
  using Element = float;
  int32_t *token_ids, *accepted;
  const float* draft_probs;
  const int32_t* draft_token_ids;
  const float* target_probs;
  opcast::Scalar<I> seed, offset;
  int64_t steps;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const RandomStream stream(*seed, *offset);
    const int64_t n = member.n(), first = row * (steps + 1);
    const float *draft = draft_probs + row * steps * n, *target = target_probs + first * n;
    int64_t s = 0;
    for (; there && s < steps; ++s, draft += n, target += n) {
      const int64_t token = draft_token_ids[row * steps + s];
      if (token < 0 || token >= n) break;  // the definition forbids it
      if (!(stream.UniformAt(first + s) * draft[token] < target[token])) break;
    }
    const double uniform = stream.UniformAt(there ? first + steps : 0);
    const auto more = [=](int64_t i) {
      const double left = double{target[i]} - double{draft[i]};
      return left > 0 ? left : 0;
    };
    const auto whole = [=](int64_t i) { return target[i] > 0 ? double{target[i]} : 0; };
    const int64_t refused = Draw(member, there && s < steps ? n : 0, more, uniform);
    const int64_t behind = Draw(member, there ? n : 0, whole, uniform);
    if (!member.Writes(row)) return;
    for (int64_t k = 0; k <= steps; ++k)
      token_ids[first + k] = k < s ? draft_token_ids[row * steps + k] : -1;
    token_ids[first + s] = opcast::Narrow<int32_t>(refused >= 0 ? refused : behind);
    accepted[row] = opcast::Narrow<int32_t>(s);
  }
};

}  // namespace

opcast::Status ChainSpeculativeSamplingCuda(const ChainSpeculativeSamplingArgs& args,
                                            const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using I = typename std::decay_t<decltype(a)>::I;
    const ChainRow<I> work{a.token_ids,    a.accepted, a.draft_probs, a.draft_token_ids,
                           a.target_probs, a.seed,     a.offset,      a.S};
    return ForRows(a.B, a.V, false, launch, work);
  });
}

}  // namespace opcast_ops
