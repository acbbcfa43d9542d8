// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// A sequence's rows are cut into splits, whose results lie in scratch and are then combined in
// order. A warp has some heads, with their queries and sums in registers; the block's warps share
// the rows. All is computed in float, and rounded once. The splits depend on the sequence's length
// and the number of sequences.
//
// Registers: at most 255.
#include <algorithm>

#include "flash_mla_decode.gen.h"
#include "vectors.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;
using opcast::kWarp;

constexpr int kWidth = 512, kPlain = 448, kRotary = kWidth - kPlain;  // columns of a row
constexpr int kScaled = 64, kScales = 7;  // columns of one scale, and scales of a row
constexpr int kRows = 16;                 // rows in shared memory
constexpr int kTogether = 4;              // rows whose scores are computed together
constexpr int kHeads = 4, kWarps = 4;     // heads of a warp, warps of a block
constexpr int kThreads = kWarps * kWarp, kBlockHeads = kWarps * kHeads;
constexpr int kLaneColumns = kWidth / kWarp;
constexpr int64_t kShortest = 64;  // rows of a split, at least
constexpr int64_t kEnough = 128;   // splits of all sequences that keep a GPU busy

// What the kernels get.
template <class F>
struct Cache {
  const opcast::bf16* q;
  const F* plain;
  const opcast::bf16* rotary;
  const float* scales;
  const int32_t* offsets;
  int64_t sequences, heads, rows, most_splits;
  float scale;
  float *o_part, *lse_part;
  opcast::bf16* o;
  float* lse;
  bool aligned;

  // Offsets that the definition forbids lead to wrong results, but not out of the cache.
  OPCAST_DEVICE int64_t Offset(int64_t i) const {
    const int64_t offset = offsets[i];
    return offset < 0 ? 0 : offset > rows ? rows : offset;
  }
  OPCAST_DEVICE int64_t Length(int64_t i) const {
    const int64_t length = Offset(i + 1) - Offset(i);
    return length < 0 ? 0 : length;
  }
  OPCAST_DEVICE int64_t Splits(int64_t length) const {
    const int64_t splits = length < kShortest ? 1 : length / kShortest;
    return splits < most_splits ? splits : most_splits;
  }
};

// Splits of a sequence at most; not more than the definition has scratch for.
int64_t MostSplits(const Args& args) {
  return std::min(args.splits, std::max<int64_t>(1, (kEnough + args.B - 1) / args.B));
}

template <class T>
OPCAST_DEVICE void Widen(const T* from, int64_t begin, int64_t n, bool aligned, float scale,
                         float* to) {
  const bool whole = aligned && begin + Vector<T>::kSize <= n;
  const Vector<T> vector = whole ? Load<true>(from, begin, n) : Load<false>(from, begin, n);
  OPCAST_UNROLL
  for (int i = 0; i < Vector<T>::kSize; ++i) to[i] = static_cast<float>(vector.at[i]) * scale;
}

// Copies cache rows as floats; those beyond `count` are zero.
template <class F>
OPCAST_DEVICE void ReadRows(const Cache<F>& cache, int64_t first, int count, float (*to)[kWidth]) {
  constexpr int kPlainSize = Vector<F>::kSize, kRotarySize = Vector<opcast::bf16>::kSize;
  constexpr int kPlainVectors = kPlain / kPlainSize;
  constexpr int kVectors = kPlainVectors + kRotary / kRotarySize;
  for (int n = threadIdx.x; n < kRows * kVectors; n += kThreads) {
    const int i = n / kVectors, part = n % kVectors;
    const int64_t row = first + i;
    if (part < kPlainVectors) {
      const int column = part * kPlainSize;
      const float scale = i < count ? cache.scales[row * kScales + column / kScaled] : 0.0f;
      Widen(cache.plain, row * kPlain + column, (first + count) * kPlain, cache.aligned, scale,
            &to[i][column]);
    } else {
      const int column = (part - kPlainVectors) * kRotarySize;
      Widen(cache.rotary, row * kRotary + column, (first + count) * kRotary, cache.aligned, 1.0f,
            &to[i][kPlain + column]);
    }
  }
}

// One head in a warp: lane l has columns l, l + kWarp, ...
struct Head {
  float q[kLaneColumns], sums[kLaneColumns];
  float largest, sum;  // score so far, sum of e^(score - largest)

  // Takes the scores of some rows in: leaves their weights, and rescales what was summed before.
  OPCAST_DEVICE void Weigh(float (&scores)[kTogether]) {
    float next = largest;
    for (float score : scores) next = fmaxf(next, score);
    // While all scores are -inf, weights are zero, as they are once there is a finite score.
    const float base = next == -INFINITY ? 0.0f : next, shrink = expf(largest - base);
    largest = next;
    sum *= shrink;
    for (float& score : scores) {
      score = expf(score - base);
      sum += score;
    }
    for (float& s : sums) s *= shrink;
  }
};

// Adds kTogether rows to the warp's heads, of which `count` are there.
OPCAST_DEVICE void AddRows(const float (*rows)[kWidth], int count, float scale,
                           Head (&heads)[kHeads]) {
  float scores[kHeads][kTogether] = {};
  OPCAST_UNROLL
  for (int i = 0; i < kTogether; ++i) {
    OPCAST_UNROLL
    for (int c = 0; c < kLaneColumns; ++c) {
      const float value = rows[i][c * kWarp + opcast::Lane()];
      OPCAST_UNROLL
      for (int h = 0; h < kHeads; ++h) scores[h][i] = fmaf(heads[h].q[c], value, scores[h][i]);
    }
  }
  OPCAST_UNROLL
  for (int h = 0; h < kHeads; ++h) {
    OPCAST_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      const float sum = opcast::WarpReduce(scores[h][i], [](float a, float b) { return a + b; });
      scores[h][i] = i < count ? scale * sum : -INFINITY;
    }
    heads[h].Weigh(scores[h]);
  }
  OPCAST_UNROLL
  for (int i = 0; i < kTogether; ++i) {
    if (i >= count) break;
    OPCAST_UNROLL
    for (int c = 0; c < kLaneColumns; ++c) {
      const float value = rows[i][c * kWarp + opcast::Lane()];
      OPCAST_UNROLL
      for (int h = 0; h < kHeads; ++h)
        heads[h].sums[c] = fmaf(scores[h][i], value, heads[h].sums[c]);
    }
  }
}

// Writes a head's partial result: the mean of the rows, and the logarithm of their weight.
template <class F>
OPCAST_DEVICE void WritePart(const Cache<F>& cache, const Head& head, int64_t place) {
  const bool nothing = head.sum == 0;  // all scores are -inf: a weight of zero
  OPCAST_UNROLL
  for (int c = 0; c < kLaneColumns; ++c)
    cache.o_part[place * kWidth + c * kWarp + opcast::Lane()] =
        nothing ? head.sums[c] : head.sums[c] / head.sum;
  if (opcast::Lane() == 0)
    cache.lse_part[place] = nothing ? -INFINITY : head.largest + logf(head.sum);
}

// One block: a split of a sequence for kBlockHeads heads.
template <class F>
OPCAST_DEVICE void Attend(const Cache<F>& cache, int64_t b, int64_t split, int64_t first_head,
                          float (*rows)[kWidth]) {
  const int64_t begin = cache.Offset(b), length = cache.Length(b);
  const int64_t splits = cache.Splits(length);
  if (split >= splits) return;
  const int64_t first = begin + length * split / splits;
  const int64_t last = begin + length * (split + 1) / splits;
  Head heads[kHeads];
  OPCAST_UNROLL
  for (int h = 0; h < kHeads; ++h) {
    const int64_t head = first_head + h;
    OPCAST_UNROLL
    for (int c = 0; c < kLaneColumns; ++c) {
      const int64_t at = (b * cache.heads + head) * kWidth + c * kWarp + opcast::Lane();
      heads[h].q[c] = head < cache.heads ? static_cast<float>(cache.q[at]) : 0.0f;
      heads[h].sums[c] = 0;
    }
    heads[h].largest = -INFINITY;
    heads[h].sum = 0;
  }
  for (int64_t row = first; row < last; row += kRows) {
    const int count = last - row < kRows ? static_cast<int>(last - row) : kRows;
    ReadRows(cache, row, count, rows);
    __syncthreads();
    for (int i = 0; i < count; i += kTogether) AddRows(rows + i, count - i, cache.scale, heads);
    __syncthreads();
  }
  OPCAST_UNROLL
  for (int h = 0; h < kHeads; ++h) {
    if (first_head + h < cache.heads)
      WritePart(cache, heads[h], (split * cache.sequences + b) * cache.heads + first_head + h);
  }
}

template <class F>
__global__ void __launch_bounds__(kThreads) AttendKernel(Cache<F> cache) {
  __shared__ Vector<float> space[kRows * kWidth / Vector<float>::kSize];
  float (*rows)[kWidth] = reinterpret_cast<float (*)[kWidth]>(space);
  const int64_t across = (cache.heads + kBlockHeads - 1) / kBlockHeads;
  const int64_t tiles = cache.sequences * cache.most_splits * across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t head = tile % across * kBlockHeads + threadIdx.x / kWarp * kHeads;
    const int64_t split = tile / across % cache.most_splits;
    Attend(cache, tile / across / cache.most_splits, split, head, rows);
  }
}

// One block writes the result of one head from those of the splits.
template <class F>
__global__ void __launch_bounds__(kThreads) CombineKernel(Cache<F> cache) {
  const int64_t step = cache.sequences * cache.heads;
  for (int64_t place = blockIdx.x; place < step; place += gridDim.x) {
    const int64_t b = place / cache.heads;
    const int64_t length = cache.Length(b), splits = length == 0 ? 0 : cache.Splits(length);
    float largest = -INFINITY, sum = 0, sums[kWidth / kThreads] = {};
    for (int64_t s = 0; s < splits; ++s) largest = fmaxf(largest, cache.lse_part[place + s * step]);
    for (int64_t s = 0; s < splits; ++s) {
      const float weight = expf(cache.lse_part[place + s * step] - largest);
      const float* o = cache.o_part + (place + s * step) * kWidth;
      OPCAST_UNROLL
      for (int c = 0; c < kWidth / kThreads; ++c)
        sums[c] = fmaf(weight, o[c * kThreads + threadIdx.x], sums[c]);
      sum += weight;
    }
    OPCAST_UNROLL
    for (int c = 0; c < kWidth / kThreads; ++c)
      cache.o[place * kWidth + c * kThreads + threadIdx.x] =
          static_cast<opcast::bf16>(splits == 0 ? 0.0f : sums[c] / sum);
    if (threadIdx.x == 0) cache.lse[place] = splits == 0 ? -INFINITY : largest + logf(sum);
  }
}

}  // namespace

int64_t FlashMlaDecodeCudaWorkspace(const Args& args, const opcast::Launch&) {
  return MostSplits(args) * args.B * args.H * (kWidth + 1) * static_cast<int64_t>(sizeof(float));
}

opcast::Status FlashMlaDecodeCuda(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using F = typename std::decay_t<decltype(a)>::F;
    const Cache<F> cache{
        a.q,      a.kv_nope,  a.kv_rope, a.kv_scale,    a.kv_indptr,
        a.B,      a.H,        a.T,       MostSplits(a), static_cast<float>(a.sm_scale),
        a.o_part, a.lse_part, a.o,       a.lse,         Aligned({a.kv_nope, a.kv_rope})};
    const int64_t across = (a.H + kBlockHeads - 1) / kBlockHeads;
    const opcast::Status status =
        opcast::Start(AttendKernel<F>, opcast::Blocks(a.B * cache.most_splits * across), kThreads,
                      0, launch, cache);
    if (!status.ok()) return status;
    return opcast::Start(CombineKernel<F>, opcast::Blocks(a.B * a.H), kThreads, 0, launch, cache);
  });
}

}  // namespace opcast_ops
