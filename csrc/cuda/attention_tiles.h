// The kernel of attention_tile.h for sequences of different lengths: which queries a block has, its
// loop over tiles of keys, and its results.
#pragma once

#include "attention_tile.h"
#include "sequences.h"

namespace opcast_ops {

template <class T>
using TiledCall = AttentionCall<T, DenseSequences<T>>;

// The queries of a block: `count` from `first` on of sequence `b`. Sequence b has the blocks from
// Begin(b) / kTileQueries + b on, of which there are always enough, so that nobody has to add up
// lengths.
struct TileOfQueries {
  int64_t b, begin, first, count;

  OPCAST_DEVICE static int64_t FirstBlock(const Offsets& queries, int64_t b) {
    return queries.Begin(b) / kTileQueries + b;
  }
  OPCAST_DEVICE TileOfQueries(const Offsets& queries, int64_t block)
      : b(-1), begin(0), first(0), count(0) {
    int64_t high = queries.sequences;
    while (high - b > 1) {
      const int64_t middle = (b + high) / 2;
      (FirstBlock(queries, middle) <= block ? b : high) = middle;
    }
    if (b < 0) return;
    begin = queries.Begin(b);
    first = (block - FirstBlock(queries, b)) * kTileQueries;
    const int64_t left = queries.Length(b) - first;
    count = left < 0 ? 0 : left < kTileQueries ? left : kTileQueries;
  }
};

// Zeros for queries of the block's rows that belong to no sequence.
template <class T>
OPCAST_DEVICE void WriteOutside(const TiledCall<T>& call, int64_t block, int64_t head) {
  const Offsets& queries = call.source.queries;
  const int64_t begin = queries.sequences > 0 ? queries.Begin(0) : call.queries;
  const int64_t end = queries.sequences > 0 ? queries.Begin(queries.sequences) : 0;
  const int warp = static_cast<int>(threadIdx.x) / opcast::kWarp;
  for (int i = warp; i < kTileQueries; i += kTileThreads / opcast::kWarp) {
    const int64_t query = block * kTileQueries + i;
    if (query >= call.queries || (query >= begin && query < end)) continue;
    const int64_t row = query * call.heads + head;
    for (int64_t c = opcast::Lane(); c < call.columns; c += opcast::kWarp)
      call.o[row * call.columns + c] = static_cast<T>(0.0f);
    if (opcast::Lane() == 0) call.lse[row] = -INFINITY;
  }
}

// Writes the results of the warp's queries; `rows` is the warp's part of shared memory.
template <class T, int kDepth>
OPCAST_DEVICE void WriteTile(const TiledCall<T>& call, const TileOfQueries& tile, int64_t head,
                             TileRows* state, const float (&sums)[kDepth / 8][4],
                             const SwizzledRows<T, kDepth>& rows, int warp_row) {
  const int lane = opcast::Lane(), g = lane / 4, t = lane % 4;
  const auto add = [](float a, float b) { return a + b; };
  OPCAST_UNROLL
  for (int half = 0; half < 2; ++half) {
    const float sum = opcast::WarpReduce(state->sum[half], add, 4),
                factor = sum == 0 ? 1.0f : 1 / sum;
    const int i = warp_row + g + half * 8;
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; ++n)
      opcast::Narrow(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor,
                     rows.At(i, n) + 2 * t);
    if (t == 0 && i < tile.count)
      call.lse[(tile.begin + tile.first + i) * call.heads + head] =
          sum == 0 ? -INFINITY : fmaf(state->largest[half], kLn2, logf(sum));
  }
  opcast::SyncWarp();
  constexpr int kParts = kDepth / 8;
  OPCAST_UNROLL
  for (int n = 0; n < kWarpQueries * kParts / opcast::kWarp; ++n) {
    const int place = n * opcast::kWarp + lane, i = warp_row + place / kParts,
              part = place % kParts;
    if (i < tile.count && part * 8 < call.columns) {
      T* const to = call.o + ((tile.begin + tile.first + i) * call.heads + head) * call.columns;
      *reinterpret_cast<uint4*>(to + part * 8) = *reinterpret_cast<const uint4*>(rows.At(i, part));
    }
  }
}

template <class T, int kDepth, bool kCapped>
__global__ void __launch_bounds__(kTileThreads, 1) TiledAttentionKernel(TiledCall<T> call) {
  T* const shared = opcast::DynamicShared<T>();
  const SwizzledRows<T, kDepth> queries{shared};
  const auto stage = [&](int n) {
    return SwizzledRows<T, kDepth>{shared + kTileRoom + n * kTileKeys * kDepth};
  };
  const int64_t block =
      call.sight.causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x;  // the longest begin
  const int64_t head = blockIdx.y;
  WriteOutside(call, block, head);
  const TileOfQueries tile(call.source.queries, block);
  if (tile.count == 0) return;

  const auto keys = call.source.KeysOf(tile.b, head / call.group);
  const TileSight sight{call.sight, keys.count};
  const int64_t place =
      tile.first + keys.count - call.source.queries.Length(tile.b);  // of the first query
  const int64_t last = place + tile.count - 1;
  const int64_t begin = call.sight.Begin(place) / kTileKeys * kTileKeys,
                end = call.sight.End(last, keys.count);
  const int depth = static_cast<int>(call.depth), columns = static_cast<int>(call.columns);
  const auto fetch = [&](const T* from, int64_t distance, int64_t key, int width, int n) {
    if (key < end)
      stage(n).template Fetch<kTileKeys>(from + key * distance, distance, keys.count - key, width);
    opcast::CommitCopies();
  };
  queries.template Fetch<kTileQueries>(
      call.q + (tile.begin + tile.first) * call.q_token + head * call.q_head, call.q_token,
      tile.count, depth);
  fetch(keys.k, keys.k_token, begin, depth, 0);
  fetch(keys.v, keys.v_token, begin, columns, 2);
  opcast::WaitCopies<1>();
  __syncthreads();

  const int lane = opcast::Lane(),
            warp_row = static_cast<int>(threadIdx.x) / opcast::kWarp * kWarpQueries;
  uint32_t q[kDepth / 16][4];
  OPCAST_UNROLL
  for (int k = 0; k < kDepth / 16; ++k)
    LoadMatrices(q[k], queries.Address(warp_row + (lane & 15), 2 * k + (lane >> 4)));
  const float sink = call.sinks == nullptr ? -INFINITY : call.sinks[head] * kLog2E;
  const float one =
      sink == -INFINITY || lane % 4 != 0 ? 0.0f : 1 + (sink - sink);  // NaN for infinity
  TileRows state{{sink, sink}, {one, one}};
  float sums[kDepth / 8][4] = {};
  float* const room = reinterpret_cast<float*>(shared) + warp_row * kTileKeys;
  const int64_t own = place + warp_row + lane / 4;
  int at = 0;
  OPCAST_NO_UNROLL
  for (int64_t key = begin; key < end; key += kTileKeys, at ^= 1) {
    opcast::WaitCopies<1>();
    __syncthreads();
    fetch(keys.k, keys.k_token, key + kTileKeys, depth, at ^ 1);
    float scores[kKeyParts][4];
    Multiply<T, kDepth>(q, stage(at), scores);
    Scale<kCapped>(call.sight, scores);
    const bool whole = sight.Whole(place, last, key);
    if (!whole) Hide(sight, own, key, scores);
    Weigh(scores, &state, sums);
    opcast::WaitCopies<1>();
    __syncthreads();
    const bool odd = !whole && __syncthreads_or(HasNoNumber<T, kDepth>(stage(2 + at)));
    fetch(keys.v, keys.v_token, key + kTileKeys, columns, 2 + (at ^ 1));
    if (odd)
      AddSeen<T, kDepth>(scores, sight, own, key, stage(2 + at), room, sums);
    else
      AddTile<T, kDepth>(scores, stage(2 + at), sums);
  }
  WriteTile<T, kDepth>(call, tile, head, &state, sums, queries, warp_row);
}

}  // namespace opcast_ops
