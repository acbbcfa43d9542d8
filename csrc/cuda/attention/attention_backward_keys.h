// Gradients of keys and values: a block has 64 keys and goes over the queries of all heads of the
// group that see them, 64 at a time. So there are no atomics, and bits depend on the sequence only.
// See attention_backward_tile.h.
#pragma once

#include "cuda/attention/attention_backward_tile.h"

namespace opcast_ops {

// Queries that a block of keys meets next: those from `query` on, of head `member` of the group.
struct NextQueries {
  int query, member;
};

// Which queries of a tile see a key: those from `begin` to `end`.
struct QueryRange {
  int begin, end;

  OPCAST_DEVICE QueryRange(int64_t from, int64_t to)
      : begin(static_cast<int>(from < 0           ? 0
                               : from < kTileKeys ? from
                                                  : kTileKeys)),
        end(static_cast<int>(to < 0           ? 0
                             : to < kTileKeys ? to
                                              : kTileKeys)) {}
  OPCAST_DEVICE bool Has(int i) const { return i >= begin && i < end; }
};

// 64 keys of a head of keys.
template <class T, int kDepth, bool kCapped>
struct KeyTile {
  using Sums = float[kDepth / 8][4];
  const BackwardCall<T>& call;
  const TileOfRows<kGradRows>& tile;
  int64_t head;
  GradShared<T, kDepth>& shared;
  DenseKeys<T> keys;    // of the sequence
  int64_t begin, more;  // the first query of the sequence, and its place
  int group, count;     // heads of queries, and queries of the sequence
  int first, last;      // queries that see a key

  OPCAST_DEVICE KeyTile(const BackwardCall<T>& call, const TileOfRows<kGradRows>& tile,
                        int64_t head, GradShared<T, kDepth>& shared)
      : call(call),
        tile(tile),
        head(head),
        shared(shared),
        keys(call.source.KeysOf(tile.b, head)),
        begin(call.source.queries.Begin(tile.b)),
        more(keys.count - call.source.queries.Length(tile.b)),
        group(GroupOf(call)),
        count(static_cast<int>(call.source.queries.Length(tile.b))),
        first(0),
        last(count) {
    if (call.sight.causal && tile.first > more)
      first = static_cast<int>(tile.first - more) & -kTileKeys;
    const int64_t reach = tile.first + tile.count - 1 - more;  // the query in the last key's place
    if (call.sight.windowed && call.sight.window < count - reach)
      last = static_cast<int>(reach + call.sight.window + 1);
  }

  OPCAST_DEVICE int64_t Row(const NextQueries& next) const {
    return (begin + next.query) * call.heads + head * group + next.member;
  }
  // The queries from `query` on that see a key.
  OPCAST_DEVICE QueryRange Watchers(int64_t key, int query) const {
    const int64_t at = key - more;  // the query in the key's place
    const bool bounded = call.sight.windowed && call.sight.window < count - at;
    const int64_t end = bounded ? at + call.sight.window + 1 : count;
    return {call.sight.causal ? at - query : 0, key < keys.count ? end - query : 0};
  }
  OPCAST_DEVICE bool Any(const NextQueries& next) const {
    return first < last && next.member < group;
  }
  OPCAST_DEVICE NextQueries After(const NextQueries& now) const {
    const int query = now.query + kTileKeys;
    return query < last ? NextQueries{query, now.member} : NextQueries{first, now.member + 1};
  }

  // Begins to copy queries.
  OPCAST_DEVICE void Fetch(const NextQueries& next, int at) const {
    if (Any(next)) {
      const int64_t row = Row(next);
      const int left = count - next.query;
      FetchRows(shared.Stage(at, 0), call.Q(begin + next.query, head * group + next.member),
                call.q_token, left, call.depth);
      FetchRows(shared.Stage(at, 1), call.grad_o + row * call.columns, call.heads * call.columns,
                left, call.columns);
      const int i = static_cast<int>(threadIdx.x) % kTileKeys;
      const int64_t from = i < left ? row + i * call.heads : row;
      if (threadIdx.x < kTileKeys)
        CopyFloat(shared.lse[at] + i, call.lse + from, i < left);
      else
        CopyFloat(shared.delta[at] + i, call.deltas + from, i < left);
    }
    opcast::CommitCopies();
  }

  // Hides keys, and keeps numbers apart from what is none.
  OPCAST_DEVICE void Hide(int query, int at, TileScores& weights, TileScores& grads, Sums& sums_k,
                          Sums& sums_v) const {
    const int64_t own = tile.first + WarpRow() + opcast::Lane() / 4;
    const int column = opcast::Lane() % 4 * 2;
    const QueryRange ranges[2] = {Watchers(own, query), Watchers(own + 8, query)};
    const auto sees = [&](int half, int i) {
      return ranges[half].Has(i) && shared.lse[at][i] != -INFINITY;
    };
    HideBoth([&](int n, int e) { return sees(e / 2, n * 8 + column + e % 2); }, weights, grads);
    const SwizzledRows<T, kDepth> q = shared.Stage(at, 0), grad_o = shared.Stage(at, 1);
    const bool odd =
        HasNoNumbers<false, kGradThreads>(q) || HasNoNumbers<false, kGradThreads>(grad_o);
    if (!__syncthreads_or(odd)) return;
    MarkNoNumbers(q, sees, sums_k);
    MarkNoNumbers(grad_o, sees, sums_v);
    __syncthreads();
    HasNoNumbers<true, kGradThreads>(q);
    HasNoNumbers<true, kGradThreads>(grad_o);
    __syncthreads();
  }

  // Adds what the queries of a stage give; `whole` says whether all of them have gradients.
  OPCAST_DEVICE void Add(int query, int at, bool whole, Sums& sums_k, Sums& sums_v) const {
    TileScores weights, grads;
    MultiplyRows(shared.Rows(0), WarpRow(), shared.Stage(at, 0), weights);
    MultiplyRows(shared.Rows(1), WarpRow(), shared.Stage(at, 1), grads);
    const int column = opcast::Lane() % 4 * 2;
    const auto end = [&](int n, int e) {
      const int i = n * 8 + column + e % 2;
      return QueryEnd{shared.lse[at][i] * kLog2E, shared.delta[at][i]};
    };
    Differentiate<kCapped>(call.sight, end, weights, grads);
    if (!whole || query + kTileKeys > count ||
        !SeeAll(call.sight, query + more, query + more + kTileKeys - 1, tile.first, keys.count))
      Hide(query, at, weights, grads, sums_k, sums_v);
    AddValues(weights, shared.Stage(at, 1), sums_v);
    AddValues(grads, shared.Stage(at, 0), sums_k);
  }

  OPCAST_DEVICE void Run() const {
    FetchRows(shared.Rows(0), keys.K(tile.first), keys.k_token, tile.count, call.depth);
    FetchRows(shared.Rows(1), keys.V(tile.first), keys.v_token, tile.count, call.columns);
    NextQueries now{first, 0};
    Fetch(now, 0);
    Sums sums_k = {}, sums_v = {};
    OPCAST_NO_UNROLL
    for (int at = 0; Any(now); at ^= 1) {
      opcast::WaitCopies<0>();
      const int own = static_cast<int>(threadIdx.x) % kTileKeys;  // what this thread has copied
      const bool whole =
          !__syncthreads_or(threadIdx.x < kTileKeys && shared.lse[at][own] == -INFINITY);
      const NextQueries next = After(now);
      Fetch(next, at ^ 1);
      Add(now.query, at, whole, sums_k, sums_v);
      now = next;
    }
    opcast::WaitCopies<0>();
    __syncthreads();
    const int64_t row = (tile.begin + tile.first) * call.key_heads + head;
    WriteRows<T, kDepth>(sums_k, call.sight.scale, shared.Rows(0), WarpRow(), tile.count,
                         static_cast<int>(call.depth), call.grad_k + row * call.depth,
                         call.key_heads * call.depth);
    WriteRows<T, kDepth>(sums_v, 1.0f, shared.Rows(1), WarpRow(), tile.count,
                         static_cast<int>(call.columns), call.grad_v + row * call.columns,
                         call.key_heads * call.columns);
  }
};

template <class T, int kDepth, bool kCapped>
__global__ void __launch_bounds__(kGradThreads, 2) KeyTilesKernel(BackwardCall<T> call) {
  const unsigned heads = static_cast<unsigned>(call.key_heads);
  const int64_t head = blockIdx.x % heads, block = blockIdx.x / heads;
  const Offsets& keys = call.source.keys;
  ClearOutside<kGradRows, kGradThreads>(keys, block, head, call.key_heads, call.depth, call.grad_k);
  ClearOutside<kGradRows, kGradThreads>(keys, block, head, call.key_heads, call.columns,
                                        call.grad_v);
  const TileOfRows<kGradRows> tile(keys, block);
  if (tile.count == 0) return;
  KeyTile<T, kDepth, kCapped>(call, tile, head, *opcast::DynamicShared<GradShared<T, kDepth>>())
      .Run();
}

}  // namespace opcast_ops
