// Attention over rows of a cache for several positions: o = softmax(scale * q @ kv.T) @ kv for each
// head, and the logarithm of the softmax's denominator.
//
// The rows of a position are cut into splits, whose results lie in scratch and are then combined in
// order. A block has 16 heads and a split. Its products are those of tensor cores: numbers of the
// cache are exact in bfloat16 without their scales, so each tile of 64 columns has scores of its
// own, which are scaled and added in float. A weight times a scale is the sum of two numbers of
// bfloat16, each of which has a product; that is 16 bits of it. All else is float, rounded once.
#pragma once

#include "cuda/attention/flash_mla_rows.h"
#include "cuda/attention/flash_mla_scores.h"
#include "cuda/attention/flash_mla_shared_memory.h"
#include "cuda/lib/count_division.h"
#include "cuda/lib/vectors_16_bytes.h"

namespace opcast_ops {

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
OPCAST_DEVICE void WritePart(const MlaCall& call, int64_t place, int heads, int warp,
                             Shared& shared, Sums (&sums)[kAcross]) {
  constexpr int kSize = Vector<float>::kSize, kOver = kPart / kSize;  // lanes of a line
  float* const space = shared.scores + warp * kWarpTiles * kHeads * kScoreLine;
  const unsigned lane = opcast::Lane(), column = lane % kOver * kSize;
  float* const to = call.o_part + place * kWidth + warp * kAcross * kPart + column;
  OPCAST_UNROLL
  for (int n = 0; n < kAcross; ++n) {
    wmma::store_matrix_sync(space, sums[n], kScoreLine, wmma::mem_row_major);
    opcast::SyncWarp();
    OPCAST_NO_UNROLL
    for (int head = lane / kOver; head < heads; head += kWarp / kOver) {
      Vector<float> means = Load<true>(space, head * kScoreLine + column, kHeads * kScoreLine);
      OPCAST_UNROLL
      for (float& mean : means.at) mean *= shared.factors[head];
      const int at = head * kWidth + n * kPart;
      if (call.aligned)
        Store<true>(means, to, at, kHeads * kWidth);
      else
        Store<false>(means, to, at, kHeads * kWidth);
    }
    opcast::SyncWarp();
  }
}

// One block: a split of a position for kHeads heads.
template <class Call>
OPCAST_DEVICE void Attend(const Call& call, int64_t b, int64_t split, int64_t first_head,
                          Shared& shared) {
  const uint32_t length = static_cast<uint32_t>(call.Length(b));
  const uint32_t splits = static_cast<uint32_t>(call.Splits(length));
  if (split >= splits) return;
  const uint32_t own = static_cast<uint32_t>(split), longer = length % splits;
  const int rows = static_cast<int>(length / splits + (own < longer));
  const int64_t first = call.Begin(b) + length / splits * own + (own < longer ? own : longer);
  const int64_t place = (split * call.positions + b) * call.heads + first_head;
  const int heads =
      static_cast<int>(call.heads - first_head < kHeads ? call.heads - first_head : kHeads);
  const int warp = threadIdx.x / kWarp;
  Head head;
  RowParts next;
  ReadQueries(call, b, first_head, shared);
  __syncthreads();
  next.Read(call, first, rows);
  head.ScaleDown(shared);
  Sums sums[kAcross];
  OPCAST_UNROLL
  for (Sums& s : sums) wmma::fill_fragment(s, 0.0f);
  OPCAST_NO_UNROLL
  for (int row = 0; row < rows; row += kRows) {
    next.Write<typename Call::Code>(shared);
    __syncthreads();
    Score(warp, shared);
    if (row + kRows < rows) next.Read(call, first + row + kRows, rows - row - kRows);
    __syncthreads();
    head.Weigh(rows - row, call.scale, shared);
    __syncthreads();
    Rescale(shared, sums);
    AddRows(warp, shared, sums);
    __syncthreads();
  }
  const float sum =
      opcast::WarpReduce(head.sum, [](float a, float b) { return a + b; }, kHeadThreads);
  if (threadIdx.x % kHeadThreads == 0) {
    const int one = threadIdx.x / kHeadThreads;
    shared.factors[one] = sum == 0 ? 1.0f : 1 / sum;  // all scores are -inf: weights of zero
    if (one < heads) call.lse_part[place + one] = sum == 0 ? -INFINITY : head.base + logf(sum);
  }
  __syncthreads();
  WritePart(call, place, heads, warp, shared, sums);
  __syncthreads();  // the next tile overwrites what is shared
}

template <class Call>
__global__ void __launch_bounds__(kThreads, 2) AttendKernel(Call call) {
  Shared& shared = *opcast::DynamicShared<Shared>();
  const int64_t across = (call.heads + kHeads - 1) / kHeads;
  const int64_t tiles = call.positions * call.most_splits * across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const Divided head = Divide(tile, across), split = Divide(head.quotient, call.most_splits);
    Attend(call, split.quotient, split.rest, head.rest * kHeads, shared);
  }
}

// One block writes the result of one head from those of the splits.
template <class Call>
__global__ void __launch_bounds__(kThreads) CombineKernel(Call call) {
  const int64_t step = call.positions * call.heads;
  for (int64_t place = blockIdx.x; place < step; place += gridDim.x) {
    const int64_t b = Divide(place, call.heads).quotient;
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
