// Attention on tensor cores for sequences of different lengths (see attention_mma_tile.h): which
// queries a block has, its loop over tiles of keys, and its results.
//
// A block has kWarps * 16 queries of one head. Keys and values come by cp.async, two tiles of 64 of
// each. Registers: at most 255. Shared memory: 4 KiB for each warp and 4 * 64 rows of kDepth
// numbers, so 80 or 96 KiB for kDepth = 128.
#pragma once

#include "cuda/attention/attention_mma_tile.h"
#include "cuda/attention/sequence_tiles.h"

namespace opcast_ops {

template <class T>
using TiledCall = AttentionCall<T, DenseSequences<T>>;

// Zeros for those of so many queries from `first` on that belong to no sequence.
template <class T>
OPCAST_DEVICE void WriteOutside(const TiledCall<T>& call, int64_t first, int count, int64_t head) {
  const Offsets& queries = call.source.queries;
  const int64_t begin = queries.sequences > 0 ? queries.Begin(0) : call.queries;
  const int64_t end = queries.sequences > 0 ? queries.Begin(queries.sequences) : 0;
  for (int i = static_cast<int>(threadIdx.x) / opcast::kWarp; i < count;
       i += static_cast<int>(blockDim.x) / opcast::kWarp) {
    const int64_t query = first + i;
    if (query >= call.queries || (query >= begin && query < end)) continue;
    const int64_t row = query * call.heads + head;
    for (int64_t c = opcast::Lane(); c < call.columns; c += opcast::kWarp)
      call.o[row * call.columns + c] = static_cast<T>(0.0f);
    if (opcast::Lane() == 0) call.lse[row] = -INFINITY;
  }
}

// Writes the results of the first `count` of a warp's queries, whose first one is `query`. They go
// through shared memory, so that each thread writes 16 bytes.
template <class T, int kDepth>
OPCAST_DEVICE void WriteRows(const TiledCall<T>& call, int64_t query, int64_t count, int64_t head,
                             const TileRows& state, const float (&sums)[kDepth / 8][4],
                             const SwizzledRows<T, kDepth>& rows) {
  const int lane = opcast::Lane(), g = lane / 4, t = lane % 4;
  OPCAST_UNROLL
  for (int half = 0; half < 2; ++half) {
    const auto add = [](float a, float b) { return a + b; };
    const float sum = opcast::WarpReduce(state.sum[half], add, 4);
    const float factor = sum == 0 ? 1.0f : 1 / sum;
    const int i = g + half * 8;
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; ++n)
      opcast::Narrow(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor,
                     rows.At(i, n) + 2 * t);
    if (t == 0 && i < count)
      call.lse[(query + i) * call.heads + head] =
          sum == 0 ? -INFINITY : fmaf(state.largest[half], kLn2, logf(sum));
  }
  opcast::SyncWarp();
  constexpr int kParts = kDepth / 8;
  OPCAST_UNROLL
  for (int n = 0; n < kWarpQueries * kParts / opcast::kWarp; ++n) {
    const int i = (n * opcast::kWarp + lane) / kParts, part = (n * opcast::kWarp + lane) % kParts;
    if (i >= count || part * 8 >= call.columns) continue;
    T* const to = call.o + ((query + i) * call.heads + head) * call.columns + part * 8;
    *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(rows.At(i, part));
  }
}

// The tiles of keys that a block goes over, and where they come to lie in shared memory.
template <class T, int kDepth, int kThreads>
struct TilesOfKeys {
  DenseKeys<T> keys;
  int64_t begin, end;  // what some query sees, from a multiple of kTileKeys on
  int depth, columns;
  T* shared;

  OPCAST_DEVICE SwizzledRows<T, kDepth> Keys(int at) const {
    return {shared + at * kTileKeys * kDepth};
  }
  OPCAST_DEVICE SwizzledRows<T, kDepth> Values(int at) const { return Keys(2 + at); }

  OPCAST_DEVICE void FetchKeys(int64_t key, int at) const {
    if (key < end)
      Keys(at).template Fetch<kTileKeys, kThreads>(static_cast<int>(threadIdx.x), keys.K(key),
                                                   keys.k_token, keys.count - key, depth);
    opcast::CommitCopies();
  }
  OPCAST_DEVICE void FetchValues(int64_t key, int at) const {
    if (key < end)
      Values(at).template Fetch<kTileKeys, kThreads>(static_cast<int>(threadIdx.x), keys.V(key),
                                                     keys.v_token, keys.count - key, columns);
    opcast::CommitCopies();
  }
};

// Adds the values of a tile which some query does not see as a whole.
template <class T, int kDepth, int kThreads>
OPCAST_DEVICE void AddPart(const float (&weights)[kKeyParts][4], const TileSight& sight,
                           const SwizzledRows<T, kDepth>& values, float* room,
                           float (&sums)[kDepth / 8][4]) {
  if (__syncthreads_or(HasNoNumbers<false, kThreads>(values))) {
    AddNoNumbers(weights, sight, values, room, sums);
    __syncthreads();
    HasNoNumbers<true, kThreads>(values);
    __syncthreads();
  }
  AddValues(weights, values, sums);
}

// Goes over the tiles. The first of the warp's queries has this place among the keys; `first` and
// `last` are those of the block's queries.
template <bool kCapped, class T, int kDepth, int kThreads>
OPCAST_DEVICE void AttendTiles(const TilesOfKeys<T, kDepth, kThreads>& tiles,
                               const SightAndScores& sight, int64_t place, int64_t first,
                               int64_t last, const uint32_t (&q)[kDepth / 16][4], float* room,
                               TileRows* state, float (&sums)[kDepth / 8][4]) {
  const ScoreScale scale(sight);
  const int64_t own = place + opcast::Lane() / 4;
  int at = 0;
  OPCAST_NO_UNROLL
  for (int64_t key = tiles.begin; key < tiles.end; key += kTileKeys, at ^= 1) {
    opcast::WaitCopies<1>();
    __syncthreads();
    tiles.FetchKeys(key + kTileKeys, at ^ 1);
    float scores[kKeyParts][4];
    Multiply(q, tiles.Keys(at), scores);
    if (kCapped) scale.Cap(scores);
    const bool whole =
        key >= sight.Begin(last) && key + kTileKeys <= sight.End(first, tiles.keys.count);
    const TileSight seen(sight, own, key, tiles.keys.count);
    if (!whole) seen.Hide(scores);
    state->Weigh(scale.factor, scores, sums);
    opcast::WaitCopies<1>();
    __syncthreads();
    tiles.FetchValues(key + kTileKeys, at ^ 1);
    if (whole)
      AddValues(scores, tiles.Values(at), sums);
    else
      AddPart<T, kDepth, kThreads>(scores, seen, tiles.Values(at), room, sums);
  }
}

template <class T, int kDepth, bool kCapped, int kWarps>
__global__ void __launch_bounds__(kWarps * 32, 8 / kWarps) TiledAttentionKernel(TiledCall<T> call) {
  constexpr int kQueries = kWarps * kWarpQueries, kThreads = kWarps * 32;
  constexpr int kWarpRoom = kWarpQueries * kTileKeys * 2;  // for queries, weights in float, results
  const int64_t head = blockIdx.x % static_cast<unsigned>(call.heads);
  const int64_t blocks = gridDim.x / static_cast<unsigned>(call.heads);
  int64_t block = blockIdx.x / static_cast<unsigned>(call.heads);
  if (call.sight.causal) block = blocks - 1 - block;  // the longest first
  WriteOutside(call, block * kQueries, kQueries, head);
  const TileOfRows<kQueries> own(call.source.queries, block);
  if (own.count == 0) return;

  T* const shared = opcast::DynamicShared<T>();
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = opcast::Lane();
  const DenseKeys<T> keys = call.source.KeysOf(own.b, head / call.group);
  const int64_t first = own.first + keys.count - call.source.queries.Length(own.b);
  const int64_t last = first + own.count - 1;
  const TilesOfKeys<T, kDepth, kThreads> tiles{keys,
                                               call.sight.Begin(first) / kTileKeys * kTileKeys,
                                               call.sight.End(last, keys.count),
                                               static_cast<int>(call.depth),
                                               static_cast<int>(call.columns),
                                               shared + kWarps * kWarpRoom};
  const SwizzledRows<T, kDepth> queries{shared + warp * kWarpRoom};
  const int64_t query = own.begin + own.first + warp * kWarpQueries;
  const int64_t count = own.count - warp * kWarpQueries;
  queries.template Fetch<kWarpQueries, 32>(lane, call.q + query * call.q_token + head * call.q_head,
                                           call.q_token, count, tiles.depth);
  tiles.FetchKeys(tiles.begin, 0);
  tiles.FetchValues(tiles.begin, 0);
  opcast::WaitCopies<1>();
  opcast::SyncWarp();
  uint32_t q[kDepth / 16][4];
  OPCAST_UNROLL
  for (int k = 0; k < kDepth / 16; ++k)
    LoadMatrices(q[k], queries.Address(lane & 15, 2 * k + (lane >> 4)));
  const float sink = call.sinks == nullptr ? -INFINITY : call.sinks[head] * kLog2E;
  const float one = sink == -INFINITY || lane % 4 != 0 ? 0.0f : 1 + (sink - sink);  // NaN for inf
  TileRows state{{sink, sink}, {one, one}};
  float sums[kDepth / 8][4] = {};
  AttendTiles<kCapped>(tiles, call.sight, first + warp * kWarpQueries, first, last, q,
                       reinterpret_cast<float*>(queries.base), &state, sums);
  opcast::SyncWarp();
  WriteRows(call, query, count, head, state, sums, queries);
}

}  // namespace opcast_ops
