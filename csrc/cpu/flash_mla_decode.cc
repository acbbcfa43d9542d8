// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// The rows of a sequence are cut into splits, whose results lie in scratch and are then combined in
// order. Products are summed in float (see gemm_tile.h), the softmax is computed in double, results
// are rounded once. A sequence's splits depend on its length only, so its bits depend neither on
// the other sequences nor on the number of threads.
#include <algorithm>
#include <cmath>
#include <limits>

#include "flash_mla_decode.gen.h"
#include "gemm_block.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;

constexpr int64_t kWidth = 512, kPlain = 448;    // columns of a row, and how many are FP8
constexpr int64_t kScaled = 64, kScales = 7;     // columns of one scale, and scales of a row
constexpr int64_t kHeads = 32, kRows = 64;       // a step: so many heads meet so many rows
constexpr int64_t kShortest = 64, kSplits = 32;  // rows of a split at least, splits at most
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The cache rows of sequence b.
struct Sequence {
  int64_t first, length;

  // Offsets that the definition forbids lead to wrong results, but not out of the cache.
  Sequence(const Args& args, int64_t b) {
    const int32_t* offsets = args.kv_indptr;
    first = std::clamp<int64_t>(offsets[b], 0, args.T);
    length = std::clamp<int64_t>(offsets[b + 1], first, args.T) - first;
  }

  // At most as many as the definition has scratch for, since no sequence is longer than the cache.
  int64_t Splits() const { return std::min(std::max<int64_t>(length / kShortest, 1), kSplits); }
};

// One split of a sequence, for some heads.
struct Task {
  int64_t b, split, head, heads, first, last;

  Task(const Args& args, int64_t index) {
    const int64_t across = (args.H + kHeads - 1) / kHeads;
    head = index % across * kHeads;
    heads = std::min(kHeads, args.H - head);
    split = index / across % args.splits;
    b = index / across / args.splits;
    const Sequence sequence(args, b);
    const int64_t splits = sequence.Splits();
    first = sequence.first + sequence.length * std::min(split, splits) / splits;
    last = sequence.first + sequence.length * std::min(split + 1, splits) / splits;
  }

  // Place of a head's partial result.
  int64_t Place(const Args& args, int64_t h) const {
    return (split * args.B + b) * args.H + head + h;
  }
};

// What a task knows after some of its rows.
struct State {
  float q[kHeads * kWidth], rows[kRows * kWidth];
  float sums[kHeads][kWidth];           // of weight * row
  double largest[kHeads], sum[kHeads];  // score so far, sum of e^(score - largest)
};

// Copies cache rows as floats.
template <class F>
inline void ReadRows(const FlashMlaDecodeTyped<F>& args, int64_t first, int64_t count, float* to) {
  const F* plain = args.kv_nope + first * kPlain;
  const float* scales = args.kv_scale + first * kScales;
  for (int64_t i = 0; i < count; ++i, plain += kPlain, scales += kScales) {
    for (int64_t tile = 0; tile < kScales; ++tile) {
      for (int64_t j = tile * kScaled; j < (tile + 1) * kScaled; ++j)
        to[i * kWidth + j] = static_cast<float>(plain[j]) * scales[tile];
    }
  }
  constexpr int64_t kRotary = kWidth - kPlain;
  Copy(opcast::DType::kBf16, args.kv_rope, first * kRotary, kRotary, count, kRotary, to + kPlain,
       kWidth);
}

// Makes `weights` of one head's scores: e^(score - largest), and rescales what was summed before.
template <int kVector>
inline void Weigh(State& state, int64_t h, double scale, const float* scores, int64_t count,
                  float* weights) {
  double largest = state.largest[h];
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, scale * scores[i]);
  // While all scores are -inf, weights are zero, as they are once there is a finite score.
  const double base = largest == -kInfinity ? 0 : largest;
  const float shrink = Exp<kVector>(static_cast<float>(state.largest[h] - base));
  double sum = state.sum[h] * shrink;
  for (int64_t i = 0; i < count; ++i) {
    weights[i] = Exp<kVector>(static_cast<float>(scale * scores[i] - base));
    sum += weights[i];
  }
  for (int64_t j = 0; j < kWidth; ++j) state.sums[h][j] *= shrink;
  state.largest[h] = largest;
  state.sum[h] = sum;
}

// Adds `count` rows, which lie in state.rows.
template <int kVector>
inline void AddRows(const Args& args, const Task& task, int64_t count, State& state) {
  float scores[kHeads][kRows] = {}, weights[kHeads][kRows];
  for (int64_t i = 0; i < count; i += TileShape<kVector>::kN) {
    for (int64_t h = 0; h < task.heads; h += TileShape<kVector>::kM) {
      AddTile<kVector>({state.q + h * kWidth, kWidth}, task.heads - h,
                       {state.rows + i * kWidth, kWidth}, count - i, kWidth, &scores[h][i], kRows);
    }
  }
  for (int64_t h = 0; h < task.heads; ++h)
    Weigh<kVector>(state, h, args.sm_scale, scores[h], count, weights[h]);
  using Shape = OuterShape<kVector>;
  for (int64_t h = 0; h < task.heads; h += Shape::kM) {
    for (int64_t j = 0; j < kWidth; j += Shape::kColumns) {
      AddOuterTile<kVector>({weights[h], kRows, 1}, task.heads - h, {state.rows + j, kWidth}, count,
                            &state.sums[h][j], kWidth);
    }
  }
}

// Writes the task's partial results: the mean of its rows, and the logarithm of their weight.
template <class F, int kVector>
inline void Attend(const FlashMlaDecodeTyped<F>& args, const Task& task) {
  State state;
  Copy(opcast::DType::kBf16, args.q, (task.b * args.H + task.head) * kWidth, kWidth, task.heads,
       kWidth, state.q, kWidth);
  for (int64_t h = 0; h < task.heads; ++h) {
    std::fill_n(state.sums[h], kWidth, 0.0f);
    state.largest[h] = -kInfinity;
    state.sum[h] = 0;
  }
  for (int64_t i = task.first; i < task.last; i += kRows) {
    const int64_t count = std::min(kRows, task.last - i);
    ReadRows<F>(args, i, count, state.rows);
    AddRows<kVector>(args, task, count, state);
  }
  for (int64_t h = 0; h < task.heads; ++h) {
    const bool nothing = state.sum[h] == 0;  // all scores are -inf: a weight of zero
    float* o = args.o_part + task.Place(args, h) * kWidth;
    const double factor = nothing ? 1 : 1 / state.sum[h];
    for (int64_t j = 0; j < kWidth; ++j) o[j] = static_cast<float>(state.sums[h][j] * factor);
    args.lse_part[task.Place(args, h)] =
        static_cast<float>(nothing ? -kInfinity : state.largest[h] + std::log(state.sum[h]));
  }
}

// Writes the result of one head from those of the splits.
template <int kVector>
inline void Combine(const Args& args, int64_t b, int64_t head) {
  const Sequence sequence(args, b);
  const int64_t place = b * args.H + head, step = args.B * args.H;
  const float* parts = args.lse_part + place;
  double largest = -kInfinity, sum = 0, sums[kWidth] = {};
  const int64_t splits = sequence.length == 0 ? 0 : sequence.Splits();
  for (int64_t s = 0; s < splits; ++s) largest = std::max<double>(largest, parts[s * step]);
  for (int64_t s = 0; s < splits; ++s) {
    const float weight = Exp<kVector>(static_cast<float>(parts[s * step] - largest));
    const float* o = args.o_part + (place + s * step) * kWidth;
    for (int64_t j = 0; j < kWidth; ++j) sums[j] += weight * o[j];
    sum += weight;
  }
  const double factor = splits == 0 ? 0 : 1 / sum;
  for (int64_t j = 0; j < kWidth; ++j) sums[j] *= factor;
  Store(opcast::DType::kBf16, sums, kWidth, args.o, place * kWidth);
  args.lse[place] = Round<float>(largest + (splits == 0 ? 0 : std::log(sum)));
}

}  // namespace

opcast::Status FlashMlaDecode(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using F = typename std::decay_t<decltype(a)>::F;
    const int64_t across = (a.H + kHeads - 1) / kHeads;
    const auto attend = [&a](int64_t begin, int64_t end, auto vector) {
      for (int64_t index = begin; index < end; ++index) {
        const Task task(a, index);
        if (task.first < task.last) Attend<F, vector>(a, task);
      }
    };
    opcast::ParallelFor(launch, a.B * across * a.splits, 1, attend);
    const auto combine = [&a](int64_t begin, int64_t end, auto vector) {
      for (int64_t index = begin; index < end; ++index)
        Combine<vector>(a, index / a.H, index % a.H);
    };
    opcast::ParallelFor(launch, a.B * a.H, RowsPerChunk(kWidth), combine);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
