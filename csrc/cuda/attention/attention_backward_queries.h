// Gradients of queries: a block has 64 queries of a head and goes over the keys that they see, 64
// at a time. See attention_backward_tile.h.
#pragma once

#include "cuda/attention/attention_backward_tile.h"

namespace opcast_ops {

// 64 queries of a head.
template <class T, int kDepth, bool kCapped>
struct QueryTile {
  using Sums = float[kDepth / 8][4];
  const BackwardCall<T>& call;
  const TileOfRows<kGradRows>& tile;
  int64_t head;
  GradShared<T, kDepth>& shared;
  DenseKeys<T> keys;
  int64_t place;         // of the first query
  QueryEnd ends[2];      // of the lane's rows
  bool there[2], whole;  // whether rows have gradients, and whether all of the block have

  OPCAST_DEVICE QueryTile(const BackwardCall<T>& call, const TileOfRows<kGradRows>& tile,
                          int64_t head, GradShared<T, kDepth>& shared)
      : call(call),
        tile(tile),
        head(head),
        shared(shared),
        keys(call.source.KeysOf(tile.b, static_cast<int>(head) / GroupOf(call))),
        place(tile.first + keys.count - call.source.queries.Length(tile.b)) {
    for (int half = 0; half < 2; ++half) {
      const int i = WarpRow() + opcast::Lane() / 4 + half * 8;
      const int64_t row = Row(i);
      const float lse = i < tile.count ? call.lse[row] : -INFINITY;
      there[half] = lse != -INFINITY;
      ends[half] = there[half] ? QueryEnd{lse * kLog2E, call.deltas[row]} : QueryEnd{0, 0};
    }
    whole = !__syncthreads_or(!there[0] || !there[1]);
  }

  OPCAST_DEVICE int64_t Row(int64_t i) const {
    return (tile.begin + tile.first + i) * call.heads + head;
  }

  // Begins to copy the keys from `key` on.
  OPCAST_DEVICE void Fetch(int64_t key, int64_t end, int at) const {
    if (key < end) {
      FetchRows(shared.Stage(at, 0), keys.K(key), keys.k_token, keys.count - key, call.depth);
      FetchRows(shared.Stage(at, 1), keys.V(key), keys.v_token, keys.count - key, call.columns);
    }
    opcast::CommitCopies();
  }

  // Hides keys, and keeps numbers apart from what is none.
  OPCAST_DEVICE void Hide(int64_t key, int at, TileScores& weights, TileScores& grads,
                          Sums& sums) const {
    const TileSight sight(call.sight, place + WarpRow() + opcast::Lane() / 4, key, keys.count);
    const int column = opcast::Lane() % 4 * 2;
    const auto sees = [&](int half, int i) { return there[half] && sight.Sees(half, i); };
    HideBoth([&](int n, int e) { return sees(e / 2, n * 8 + column + e % 2); }, weights, grads);
    const SwizzledRows<T, kDepth> stage = shared.Stage(at, 0);
    if (!__syncthreads_or(HasNoNumbers<false, kGradThreads>(stage))) return;
    MarkNoNumbers(stage, sees, sums);
    __syncthreads();
    HasNoNumbers<true, kGradThreads>(stage);
    __syncthreads();
  }

  OPCAST_DEVICE void Run() const {
    const int64_t first = tile.begin + tile.first, last = place + tile.count - 1;
    const int64_t begin = call.sight.Begin(place) / kTileKeys * kTileKeys;
    const int64_t end = call.sight.End(last, keys.count);
    FetchRows(shared.Rows(0), call.Q(first, head), call.q_token, tile.count, call.depth);
    FetchRows(shared.Rows(1), call.grad_o + Row(0) * call.columns, call.heads * call.columns,
              tile.count, call.columns);
    Fetch(begin, end, 0);
    Sums sums = {};
    int at = 0;
    OPCAST_NO_UNROLL
    for (int64_t key = begin; key < end; key += kTileKeys, at ^= 1) {
      opcast::WaitCopies<0>();
      __syncthreads();
      Fetch(key + kTileKeys, end, at ^ 1);
      TileScores weights, grads;
      MultiplyRows(shared.Rows(0), WarpRow(), shared.Stage(at, 0), weights);
      MultiplyRows(shared.Rows(1), WarpRow(), shared.Stage(at, 1), grads);
      Differentiate<kCapped>(call.sight, [&](int, int e) { return ends[e / 2]; }, weights, grads);
      if (!whole || !SeeAll(call.sight, place, last, key, keys.count))
        Hide(key, at, weights, grads, sums);
      AddValues(grads, shared.Stage(at, 0), sums);
    }
    opcast::WaitCopies<0>();
    __syncthreads();
    WriteRows<T, kDepth>(sums, call.sight.scale, shared.Rows(0), WarpRow(), tile.count,
                         static_cast<int>(call.depth), call.grad_q + Row(0) * call.depth,
                         call.heads * call.depth);
  }
};

template <class T, int kDepth, bool kCapped>
__global__ void __launch_bounds__(kGradThreads, 2) QueryTilesKernel(BackwardCall<T> call) {
  const unsigned heads = static_cast<unsigned>(call.heads), all = gridDim.x / heads;
  const int64_t head = blockIdx.x % heads;
  int64_t block = blockIdx.x / heads;
  if (call.sight.causal) block = all - 1 - block;  // the longest begin
  ClearOutside<kGradRows, kGradThreads>(call.source.queries, block, head, call.heads, call.depth,
                                        call.grad_q);
  const TileOfRows<kGradRows> tile(call.source.queries, block);
  if (tile.count == 0) return;
  QueryTile<T, kDepth, kCapped>(call, tile, head, *opcast::DynamicShared<GradShared<T, kDepth>>())
      .Run();
}

}  // namespace opcast_ops
