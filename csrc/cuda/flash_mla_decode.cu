// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// A sequence's rows are cut into splits, whose results lie in scratch and are then combined in
// order. A block has 16 heads and a split. Its products are those of tensor cores: numbers of the
// cache are exact in bfloat16 without their scales, so each tile of 64 columns has scores of its
// own, which are scaled and added in float. A weight times a scale is the sum of two numbers of
// bfloat16, each of which has a product; that is 16 bits of it. All else is float, rounded once.
// The splits depend on the sequence's length and the number of sequences.
//
// Registers: at most 208.
#include <algorithm>

#include "flash_mla_decode.gen.h"
#include "flash_mla_tile.h"

namespace opcast_ops {
namespace {

namespace wmma = opcast::wmma;

using Args = FlashMlaDecodeArgs;
using Sums = wmma::fragment<wmma::accumulator, kPart, kPart, kPart, float>;
using Left = wmma::fragment<wmma::matrix_a, kPart, kPart, kPart, bf16, wmma::row_major>;

// Splits of a sequence at most; not more than the definition has scratch for.
int64_t MostSplits(const Args& args) {
  return std::min(args.splits, std::max<int64_t>(1, (kEnough + args.B - 1) / args.B));
}

// Writes the products of the queries and the rows over each of the warp's tiles.
OPCAST_DEVICE void Score(int warp, Shared& shared) {
  using Right = wmma::fragment<wmma::matrix_b, kPart, kPart, kPart, bf16, wmma::col_major>;
  OPCAST_NO_UNROLL
  for (int tile = warp * kWarpTiles; tile < (warp + 1) * kWarpTiles; ++tile) {
    Sums sums[kRows / kPart];
    OPCAST_UNROLL
    for (Sums& s : sums) wmma::fill_fragment(s, 0.0f);
    OPCAST_UNROLL
    for (int k = tile * kTile, step = 0; step < kTile / kPart; ++step, k += kPart) {
      Left left;
      wmma::load_matrix_sync(left, shared.q + k, kLine);
      OPCAST_UNROLL
      for (int n = 0; n < kRows / kPart; ++n) {
        Right right;
        wmma::load_matrix_sync(right, shared.rows + n * kPart * kLine + k, kLine);
        wmma::mma_sync(sums[n], left, right, sums[n]);
      }
    }
    OPCAST_UNROLL
    for (int n = 0; n < kRows / kPart; ++n)
      wmma::store_matrix_sync(shared.scores + tile * kHeads * kScoreLine + n * kPart, sums[n],
                              kScoreLine, wmma::mem_row_major);
  }
}

// A thread's part of a head: its rows are those with its number, plus multiples of kHeadThreads.
struct Head {
  float base = -INFINITY;  // weights are e^(score - base)
  float sum = 0;           // of the thread's weights

  // Writes the weights of the rows, of which `count` are there.
  OPCAST_DEVICE void Weigh(int count, float sm_scale, Shared& shared) {
    const int head = threadIdx.x / kHeadThreads, own = threadIdx.x % kHeadThreads;
    float scores[kOwnRows], most = -INFINITY;
    OPCAST_UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      const int row = own + i * kHeadThreads;
      float score = 0;
      OPCAST_UNROLL
      for (int tile = 0; tile < kTiles; ++tile)
        score = fmaf(shared.scores[(tile * kHeads + head) * kScoreLine + row],
                     shared.scales[row * kTiles + tile], score);
      scores[i] = row < count ? sm_scale * score : -INFINITY;
      most = fmaxf(most, scores[i]);
    }
    most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, kHeadThreads);
    const bool moves = most > base + kSlack;  // also from -inf to what is finite
    const float factor = moves ? expf(base - most) : 1.0f;
    if (moves) base = most;
    sum *= factor;
    if (own == 0) shared.factors[head] = factor;
    OPCAST_UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      // While all scores are -inf, weights are zero.
      const float weight = expf(scores[i] - (base == -INFINITY ? 0.0f : base));
      sum += weight;
      WriteWeight(weight, head, own + i * kHeadThreads, shared);
    }
  }

 private:
  OPCAST_DEVICE static void WriteWeight(float weight, int head, int row, Shared& shared) {
    OPCAST_UNROLL
    for (int tile = 0; tile < kTiles; ++tile) {
      const float scaled = weight * shared.scales[row * kTiles + tile];
      const bf16 high = static_cast<bf16>(scaled);
      const float rest = scaled - static_cast<float>(high);
      bf16* const to = shared.weights + (tile * 2 * kHeads + head) * kWeightLine + row;
      to[0] = high;
      to[kHeads * kWeightLine] = static_cast<bf16>(fabsf(rest) <= kLargest ? rest : 0.0f);
    }
  }
};

// Multiplies the warp's sums by the heads' factors, if there are any.
OPCAST_DEVICE void Rescale(float* space, const Shared& shared, Sums (&sums)[kAcross]) {
  if (!opcast::WarpAny(shared.factors[opcast::Lane() % kHeads] != 1)) return;
  OPCAST_UNROLL
  for (Sums& s : sums) {
    wmma::store_matrix_sync(space, s, kScoreLine, wmma::mem_row_major);
    opcast::SyncWarp();
    OPCAST_NO_UNROLL
    for (int e = opcast::Lane(); e < kPart * kPart; e += kWarp)
      space[e / kPart * kScoreLine + e % kPart] *= shared.factors[e / kPart];
    opcast::SyncWarp();
    wmma::load_matrix_sync(s, space, kScoreLine, wmma::mem_row_major);
    opcast::SyncWarp();
  }
}

// Adds the rows times their weights to the warp's columns.
OPCAST_DEVICE void AddRows(int warp, const Shared& shared, Sums (&sums)[kAcross]) {
  using Right = wmma::fragment<wmma::matrix_b, kPart, kPart, kPart, bf16, wmma::row_major>;
  constexpr int kTileAcross = kTile / kPart;
  OPCAST_UNROLL
  for (int t = 0; t < kWarpTiles; ++t) {
    const int tile = warp * kWarpTiles + t;
    const bf16* const weights = shared.weights + tile * 2 * kHeads * kWeightLine;
    OPCAST_UNROLL
    for (int k = 0; k < kRows; k += kPart) {
      Left high, low;
      wmma::load_matrix_sync(high, weights + k, kWeightLine);
      wmma::load_matrix_sync(low, weights + kHeads * kWeightLine + k, kWeightLine);
      OPCAST_UNROLL
      for (int n = 0; n < kTileAcross; ++n) {
        Sums& s = sums[t * kTileAcross + n];
        Right right;
        wmma::load_matrix_sync(right, shared.rows + k * kLine + tile * kTile + n * kPart, kLine);
        wmma::mma_sync(s, low, right, s);
        wmma::mma_sync(s, high, right, s);
      }
    }
  }
}

// Writes the warp's columns of partial results: means of the rows.
template <class F>
OPCAST_DEVICE void WritePart(const Cache<F>& cache, int64_t place, int64_t heads, int warp,
                             float* space, const Shared& shared, Sums (&sums)[kAcross]) {
  OPCAST_UNROLL
  for (int n = 0; n < kAcross; ++n) {
    wmma::store_matrix_sync(space, sums[n], kScoreLine, wmma::mem_row_major);
    opcast::SyncWarp();
    OPCAST_NO_UNROLL
    for (int e = opcast::Lane(); e < kPart * kPart; e += kWarp) {
      const int head = e / kPart;
      const float sum = shared.factors[head], value = space[head * kScoreLine + e % kPart];
      if (head < heads)
        cache.o_part[(place + head) * kWidth + (warp * kAcross + n) * kPart + e % kPart] =
            sum == 0 ? value : value / sum;  // all scores are -inf: a weight of zero
    }
    opcast::SyncWarp();
  }
}

// One block: a split of a sequence for kHeads heads.
template <class F>
OPCAST_DEVICE void Attend(const Cache<F>& cache, int64_t b, int64_t split, int64_t first_head,
                          Shared& shared) {
  const int64_t begin = cache.Offset(b), length = cache.Length(b);
  const int64_t splits = cache.Splits(length);
  if (split >= splits) return;
  const int64_t first = begin + length * split / splits;
  const int64_t last = begin + length * (split + 1) / splits;
  const int warp = threadIdx.x / kWarp;
  float* const space = shared.scores + warp * kWarpTiles * kHeads * kScoreLine;
  Sums sums[kAcross];
  OPCAST_UNROLL
  for (Sums& s : sums) wmma::fill_fragment(s, 0.0f);
  Head head;
  ReadQueries(cache, b, first_head, shared);
  OPCAST_NO_UNROLL
  for (int64_t row = first; row < last; row += kRows) {
    const int count = last - row < kRows ? static_cast<int>(last - row) : kRows;
    ReadRows(cache, row, count, shared);
    __syncthreads();
    Score(warp, shared);
    __syncthreads();
    head.Weigh(count, cache.scale, shared);
    __syncthreads();
    Rescale(space, shared, sums);
    AddRows(warp, shared, sums);
    __syncthreads();
  }
  const float sum =
      opcast::WarpReduce(head.sum, [](float a, float b) { return a + b; }, kHeadThreads);
  const int own = threadIdx.x / kHeadThreads;
  const int64_t place = (split * cache.sequences + b) * cache.heads + first_head;
  if (threadIdx.x % kHeadThreads == 0) {
    shared.factors[own] = sum;
    if (first_head + own < cache.heads)
      cache.lse_part[place + own] = sum == 0 ? -INFINITY : head.base + logf(sum);
  }
  __syncthreads();
  WritePart(cache, place, cache.heads - first_head, warp, space, shared, sums);
  __syncthreads();  // the next tile overwrites what is shared
}

template <class F>
__global__ void __launch_bounds__(kThreads, 1) AttendKernel(Cache<F> cache) {
  Shared& shared = *opcast::DynamicShared<Shared>();
  const int64_t across = (cache.heads + kHeads - 1) / kHeads;
  const int64_t tiles = cache.sequences * cache.most_splits * across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t head = tile % across * kHeads, split = tile / across % cache.most_splits;
    Attend(cache, tile / across / cache.most_splits, split, head, shared);
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
          static_cast<bf16>(splits == 0 ? 0.0f : sums[c] / sum);
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
    const int64_t across = (a.H + kHeads - 1) / kHeads;
    const opcast::Status status =
        opcast::Start(AttendKernel<F>, opcast::Blocks(a.B * cache.most_splits * across), kThreads,
                      sizeof(Shared), launch, cache);
    if (!status.ok()) return status;
    return opcast::Start(CombineKernel<F>, opcast::Blocks(a.B * a.H), kThreads, 0, launch, cache);
  });
}

}  // namespace opcast_ops
