// Attention over rows of a cache for several positions: o = softmax(scale * q @ kv.T) @ kv for each
// head, and the logarithm of the softmax's denominator.
//
// The rows of a position are cut into splits, whose results lie in scratch and are then combined in
// order. A block has 16 heads and a split. Its products are those of tensor cores: numbers of the
// cache are exact in bfloat16 without their scales, so each tile of 64 columns has scores of its
// own, which are scaled and added in float. A weight times a scale is the sum of two numbers of
// bfloat16, each of which has a product; that is 16 bits of it. All else is float, rounded once.
#pragma once

#include "flash_mla_tile.h"
#include "vectors.h"

namespace opcast_ops {

namespace wmma = opcast::wmma;

using Sums = wmma::fragment<wmma::accumulator, kPart, kPart, kPart, float>;
using Left = wmma::fragment<wmma::matrix_a, kPart, kPart, kPart, bf16, wmma::row_major>;

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
  float factor = 1;        // of the scores

  // Scales large queries down, since products would overflow before they are scaled by what is
  // small. All that is lost is below 2^-90 of the largest one.
  OPCAST_DEVICE void ScaleDown(Shared& shared) {
    constexpr float kMost = 0x1p90f, kFactor = 0x1p36f;
    bf16* const q = shared.q + threadIdx.x / kHeadThreads * kLine;
    float most = 0;
    OPCAST_NO_UNROLL
    for (int c = threadIdx.x % kHeadThreads; c < kWidth; c += kHeadThreads)
      most = fmaxf(most, fabsf(static_cast<float>(q[c])));
    most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, kHeadThreads);
    if (most <= kMost) return;
    factor = kFactor;
    OPCAST_NO_UNROLL
    for (int c = threadIdx.x % kHeadThreads; c < kWidth; c += kHeadThreads)
      q[c] = static_cast<bf16>(static_cast<float>(q[c]) / kFactor);
  }

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
      scores[i] = row < count ? sm_scale * score * factor : -INFINITY;
      most = fmaxf(most, scores[i]);
    }
    most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, kHeadThreads);
    const bool moves = most > base + kSlack;  // also from -inf to what is finite
    const float shrink = moves ? expf(base - most) : 1.0f;
    if (moves) base = most;
    sum *= shrink;
    if (own == 0) shared.factors[head] = shrink;
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
OPCAST_DEVICE void Rescale(const Shared& shared, Sums (&sums)[kAcross]) {
  if (!opcast::WarpAny(shared.factors[opcast::Lane() % kHeads] != 1)) return;
  OPCAST_UNROLL
  for (Sums& s : sums) s.ForEach([&](float& x, int head, int) { x *= shared.factors[head]; });
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
OPCAST_DEVICE void WritePart(const MlaCall& call, int64_t place, int64_t heads, int warp,
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
        call.o_part[(place + head) * kWidth + (warp * kAcross + n) * kPart + e % kPart] =
            sum == 0 ? value : value / sum;  // all scores are -inf: a weight of zero
    }
    opcast::SyncWarp();
  }
}

// One block: a split of a position for kHeads heads.
template <class Call>
OPCAST_DEVICE void Attend(const Call& call, int64_t b, int64_t split, int64_t first_head,
                          Shared& shared) {
  const int64_t begin = call.Begin(b), length = call.Length(b);
  const int64_t splits = call.Splits(length);
  if (split >= splits) return;
  const int64_t first = begin + length * split / splits;
  const int64_t last = begin + length * (split + 1) / splits;
  const int warp = threadIdx.x / kWarp;
  float* const space = shared.scores + warp * kWarpTiles * kHeads * kScoreLine;
  Sums sums[kAcross];
  OPCAST_UNROLL
  for (Sums& s : sums) wmma::fill_fragment(s, 0.0f);
  Head head;
  ReadQueries(call, b, first_head, shared);
  __syncthreads();
  head.ScaleDown(shared);
  OPCAST_NO_UNROLL
  for (int64_t row = first; row < last; row += kRows) {
    const int count = last - row < kRows ? static_cast<int>(last - row) : kRows;
    call.ReadRows(row, count, shared);
    __syncthreads();
    Score(warp, shared);
    __syncthreads();
    head.Weigh(count, call.scale, shared);
    __syncthreads();
    Rescale(shared, sums);
    AddRows(warp, shared, sums);
    __syncthreads();
  }
  const float sum =
      opcast::WarpReduce(head.sum, [](float a, float b) { return a + b; }, kHeadThreads);
  const int own = threadIdx.x / kHeadThreads;
  const int64_t place = (split * call.positions + b) * call.heads + first_head;
  if (threadIdx.x % kHeadThreads == 0) {
    shared.factors[own] = sum;
    if (first_head + own < call.heads)
      call.lse_part[place + own] = sum == 0 ? -INFINITY : head.base + logf(sum);
  }
  __syncthreads();
  WritePart(call, place, call.heads - first_head, warp, space, shared, sums);
  __syncthreads();  // the next tile overwrites what is shared
}

template <class Call>
__global__ void __launch_bounds__(kThreads, 1) AttendKernel(Call call) {
  Shared& shared = *opcast::DynamicShared<Shared>();
  const int64_t across = (call.heads + kHeads - 1) / kHeads;
  const int64_t tiles = call.positions * call.most_splits * across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t head = tile % across * kHeads, split = tile / across % call.most_splits;
    Attend(call, tile / across / call.most_splits, split, head, shared);
  }
}

// One block writes the result of one head from those of the splits.
template <class Call>
__global__ void __launch_bounds__(kThreads) CombineKernel(Call call) {
  const int64_t step = call.positions * call.heads;
  for (int64_t place = blockIdx.x; place < step; place += gridDim.x) {
    const int64_t b = place / call.heads;
    const int64_t length = call.Length(b), splits = length == 0 ? 0 : call.Splits(length);
    float largest = -INFINITY, sum = 0, sums[kWidth / kThreads] = {};
    for (int64_t s = 0; s < splits; ++s) largest = fmaxf(largest, call.lse_part[place + s * step]);
    for (int64_t s = 0; s < splits; ++s) {
      const float weight = expf(call.lse_part[place + s * step] - largest);
      const float* o = call.o_part + (place + s * step) * kWidth;
      OPCAST_UNROLL
      for (int c = 0; c < kWidth / kThreads; ++c)
        sums[c] = fmaf(weight, o[c * kThreads + threadIdx.x], sums[c]);
      sum += weight;
    }
    OPCAST_UNROLL
    for (int c = 0; c < kWidth / kThreads; ++c)
      call.o[place * kWidth + c * kThreads + threadIdx.x] =
          static_cast<bf16>(splits == 0 ? 0.0f : sums[c] / sum);
    if (threadIdx.x == 0) call.lse[place] = splits == 0 ? -INFINITY : largest + logf(sum);
  }
}

// Starts both kernels.
template <class Call>
opcast::Status StartCall(const Call& call, const opcast::Launch& launch) {
  const int64_t across = (call.heads + kHeads - 1) / kHeads;
  const opcast::Status status =
      opcast::Start(AttendKernel<Call>, opcast::Blocks(call.positions * call.most_splits * across),
                    kThreads, sizeof(Shared), launch, call);
  if (!status.ok()) return status;
  return opcast::Start(CombineKernel<Call>, opcast::Blocks(call.positions * call.heads), kThreads,
                       0, launch, call);
}

}  // namespace opcast_ops
