// o = softmax(sm_scale * q @ kv.T) @ the first kv_lora_rank columns of kv for each head, and the
// logarithm of the softmax's denominator, for every query over the rows that it sees.
//
// Rows are taken in steps, as in mla_step.h, which says in which precision. All heads of a
// query see the same rows, so a task has one query and some of its heads; how many makes no
// difference to the bits. Queries and rows are copied as floats; zeros fill them up.
#include "cpu/lib/standard_headers.h"

#include "common/mla_prefill.h"

#include <algorithm>

#include "cpu/attention/mla_step.h"
#include "mla_prefill.gen.h"

namespace opcast_ops {
namespace {

// Lines of floats.
struct Lines {
  float* at;
  int64_t stride;

  float* operator[](int64_t i) const { return at + i * stride; }
};

// Memory of a task, as mla_step.h has it.
class PrefillSpace {
 public:
  PrefillSpace(int64_t heads, int64_t depth, int64_t values)
      : kDepth(Up(depth, kLanes)),
        kValues(Up(values, kTile)),
        kStride(Up(std::max(depth, values), kTile)),
        memory_((2 * (heads + kSpare) + kRows) * kStride + (heads + kSpare) * kRows),
        q{memory_.Floats(), kStride},
        rows{q[heads + kSpare], kStride},
        sums{rows[kRows], kStride},
        weights{sums[heads + kSpare], kRows} {
    std::fill(q[0], weights[heads + kSpare], 0.0f);
  }

  const int64_t kDepth, kValues, kStride;

 private:
  static constexpr int64_t kLanes = 16, kTile = 256;  // floats that tiles take at once

  static int64_t Up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

  const FloatSpace memory_;

 public:
  const Lines q, rows, sums, weights;
};

// Adds a step of rows to the results of some heads.
template <int kVector, class T>
inline void AddStep(const T* kv, int64_t width, int64_t count, double scale, int64_t heads,
                    PrefillSpace& space, Mean* means) {
  for (int64_t i = 0; i < count; ++i) Widen<kVector>(kv + i * width, space.rows[i], width);
  Score<kVector>(heads, count, space);
  AddRows<kVector>(scale, heads, count, space, means);
}

// Writes the results of some heads from `place` on. They are NaN if all scores are -inf, as the
// formula has it.
template <int kVector, class Args>
inline void Write(const Args& a, int64_t place, int64_t heads, Mean* means) {
  for (int64_t h = 0; h < heads; ++h, ++place) {
    means[h].Multiply(1 / means[h].sum);
    Narrow<kVector>(means[h].sums, a.o + place * a.kv_lora_rank, a.kv_lora_rank);
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    a.lse[place] = Round<float>(means[h].sum == 0 ? kNan : means[h].Lse());
  }
}

// Computes some heads of a query.
template <int kVector, class Args>
inline void Attend(const Args& a, int64_t place, int64_t heads, const Seen& seen) {
  using T = typename Args::T;
  if (seen.count == 0) {
    std::fill_n(a.o + place * a.kv_lora_rank, heads * a.kv_lora_rank, T(0.0f));
    std::fill_n(a.lse + place, heads, static_cast<float>(-kInfinity));
    return;
  }
  PrefillSpace space(heads, a.D, a.kv_lora_rank);
  Mean means[kHeads];
  for (int64_t h = 0; h < heads; ++h) {
    means[h].sums = space.sums[h];
    means[h].columns = space.kValues;
    Widen<kVector>(a.q + (place + h) * a.D, space.q[h], a.D);
  }
  for (int64_t i = 0; i < seen.count; i += kRows)
    AddStep<kVector>(a.kv + (seen.first + i) * a.D, a.D, std::min(kRows, seen.count - i),
                     a.sm_scale, heads, space, means);
  Write<kVector>(a, place, heads, means);
}

}  // namespace

opcast::Status MlaPrefill(const MlaPrefillArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const Sequences sequences{a.cu_seqlens_q, a.cu_seqlens_k, a.B, a.Tk, a.causal};
    const int64_t across = (a.H + kHeads - 1) / kHeads;
    const auto tasks = [&a, &sequences, across](int64_t begin, int64_t end, auto vector) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t query = task / across, head = task % across * kHeads;
        Attend<vector>(a, query * a.H + head, std::min(kHeads, a.H - head), sequences.Of(query));
      }
    };
    opcast::ParallelFor(launch, a.Tq * across, 1, tasks);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
