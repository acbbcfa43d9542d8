// ids[b] = a draw by inverse distribution, in the order of ids, from what three filters leave of
// row b. All filters keep what is at least a number: that of top_k and of top_p is found by four
// bits at a time, by how many probabilities, or how much of their sum, are not below each of 15
// numbers. Sums are double.
//
// Registers: at most 128.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
#include "common/philox.h"
#include "cuda/lib/row_kernels.h"
#include "cuda/sampling/weighted_draw.h"
#include "top_k_top_p_min_p_sampling_from_probs.gen.h"

namespace opcast_ops {
namespace {

template <class S>
struct SamplingRow {
  using Element = float;
  int32_t* ids;
  const float* probs;
  opcast::Scalar<S> seed, offset;
  const int32_t* top_k;
  const float *top_p, *min_p;

  // The largest bits of a float such that what is not below counts `goal` or more: each number of
  // the row from `least` on 1, or as much as it is. 0 if that is too much.
  template <bool kCountOnes>
  OPCAST_DEVICE static uint32_t Threshold(Member& member, const float* x, int64_t n, float least,
                                          double goal) {
    constexpr int kOthers = 15;
    uint32_t found = 0;
    OPCAST_NO_UNROLL
    for (int shift = 28; shift >= 0; shift -= 4) {
      double counts[kOthers] = {};
      for (int64_t i = member.index(); i < n; i += member.threads()) {
        if (!(x[i] > 0 && x[i] >= least)) continue;
        const uint32_t bits = opcast::detail::Bits(x[i]);
        const double own = kCountOnes ? 1 : static_cast<double>(x[i]);
        OPCAST_UNROLL
        for (uint32_t k = 0; k < kOthers; ++k)
          counts[k] += bits >= found + ((k + 1) << shift) ? own : 0;
      }
      member.Sum(counts);
      uint32_t digit = 0;
      OPCAST_UNROLL
      for (uint32_t k = 0; k < kOthers; ++k) {
        if (counts[k] >= goal && !(shift == 28 && k >= 7)) digit = k + 1;
      }
      found += digit << shift;
    }
    return found;
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = there ? member.n() : 0, at = there ? row : 0;
    const float* x = probs + row * member.n();
    float most = 0;
    for (int64_t i = member.index(); i < n; i += member.threads()) most = x[i] > most ? x[i] : most;
    most = member.Max(most);
    float least = 0;
    if (top_k != nullptr) {
      const uint32_t bits = Threshold<true>(member, x, n, 0, top_k[at]);
      if (top_k[at] > 0 && top_k[at] < member.n()) least = opcast::detail::FromBits(bits);
    }
    if (top_p != nullptr) {
      double kept = 0;
      for (int64_t i = member.index(); i < n; i += member.threads())
        kept += x[i] > 0 && x[i] >= least ? x[i] : 0;
      const double goal = top_p[at] * member.Sum(kept);
      const uint32_t bits = Threshold<false>(member, x, n, least, goal);
      const float limit = bits < opcast::detail::Bits(most) ? opcast::detail::FromBits(bits) : most;
      if (top_p[at] < 1 && limit > least) least = limit;
    }
    const double relative = min_p != nullptr ? double{min_p[at]} * most : 0;
    const auto weight = [=](int64_t i) {
      return x[i] > 0 && x[i] >= least && x[i] >= relative ? double{x[i]} : 0;
    };
    const int64_t id = Draw(member, n, weight, RandomStream(*seed, *offset).UniformAt(at));
    if (member.Writes(row)) ids[row] = opcast::Narrow<int32_t>(id);
  }
};

}  // namespace

opcast::Status TopKTopPMinPSamplingFromProbsCuda(const TopKTopPMinPSamplingFromProbsArgs& args,
                                                 const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using S = typename std::decay_t<decltype(a)>::S;
    const SamplingRow<S> work{a.ids, a.probs, a.seed, a.offset, a.top_k, a.top_p, a.min_p};
    return ForRows(a.B, a.V, false, launch, work);
  });
}

}  // namespace opcast_ops
