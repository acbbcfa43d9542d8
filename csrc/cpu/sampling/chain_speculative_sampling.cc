// Accepts draft tokens of each row up to the first with u * draft_probs >= target_probs, where u is
// a uniform number, and draws one more by inverse distribution, in the order of ids: from what
// target_probs has more than draft_probs where a token was refused, from target_probs behind the
// last (Leviathan et al., "Fast inference from transformers via speculative decoding", ICML 2023).
// Products, differences and sums are double.
#include "cpu/lib/standard_headers.h"

#include "chain_speculative_sampling.gen.h"
#include "common/philox.h"
#include "cpu/lib/scalar_functions.h"
#include "cpu/sampling/weighted_draw.h"

namespace opcast_ops {
namespace {

// Writes the tokens of a row; returns how many of the draft are among them.
template <class Typed>
int32_t OfRow(const Typed& a, const RandomStream& stream, int64_t row) {
  const int64_t n = a.V, first = row * (a.S + 1);
  const int32_t* tokens = a.draft_token_ids + row * a.S;
  const float *draft = a.draft_probs + row * a.S * n, *target = a.target_probs + first * n;
  int32_t* ids = a.token_ids + first;
  std::fill(ids, ids + a.S + 1, -1);
  int64_t s = 0;
  for (; s < a.S; ++s, draft += n, target += n) {
    if (!(stream.UniformAt(first + s) * draft[tokens[s]] < target[tokens[s]])) break;
    ids[s] = tokens[s];
  }
  const double uniform = stream.UniformAt(first + a.S);
  const auto whole = [target](int64_t i) {
    return Select(target[i] > 0, static_cast<double>(target[i]), 0.0);
  };
  const auto more = [target, draft](int64_t i) {
    const double left = double{target[i]} - double{draft[i]};
    return Select(left > 0, left, 0.0);
  };
  int64_t id = s < a.S ? Draw(n, more, uniform) : -1;
  if (id < 0) id = Draw(n, whole, uniform);
  ids[s] = opcast::Narrow<int32_t>(id);
  return opcast::Narrow<int32_t>(s);
}

}  // namespace

opcast::Status ChainSpeculativeSampling(const ChainSpeculativeSamplingArgs& args,
                                        const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const RandomStream stream(*a.seed, *a.offset);
    opcast::ParallelFor(launch, a.B, RowsPerChunk(a.V), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) a.accepted[row] = OfRow(a, stream, row);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
