// Gradients of attention on tensor cores: what a warp computes of 16 rows and a tile of 64 others.
//
// With p = e^(score - lse) and grad_s = p (grad_o . v - delta), rows are either queries, for
// grad_q += grad_s k, or keys, for grad_v += p grad_o and grad_k += grad_s q. Scores and their
// gradients stay in registers, where those of a product are the left factor of the next. Both
// enter it as two numbers of 16 bits, as weights do in attention_mma_tile.h.
#pragma once

#include "cuda/attention/attention_backward.h"
#include "cuda/attention/attention_mma_tile.h"
#include "cuda/attention/sequence_tiles.h"

namespace opcast_ops {

constexpr int kGradRows = 64, kGradThreads = 128;  // rows and threads of a block
static_assert(kGradRows == kTileKeys && kGradThreads / opcast::kWarp * kWarpQueries == kGradRows);

// Scores of 16 rows and a tile, or what becomes of them.
using TileScores = float[kKeyParts][4];

// Copies 4 bytes to shared memory, or zeros; nothing is read for zeros.
OPCAST_DEVICE void CopyFloat(float* to, const float* from, bool there) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(SharedAddress(to)), "l"(from),
               "r"(there ? 4 : 0));
}

// The products of 16 rows from `first` on and a tile, without holding the rows in registers.
template <class T, int kDepth>
OPCAST_DEVICE void MultiplyRows(const SwizzledRows<T, kDepth>& rows, int first,
                                const SwizzledRows<T, kDepth>& tile, TileScores& products) {
  const int lane = Anew(opcast::Lane()), row = (lane & 7) + ((lane >> 4) << 3),
            part = (lane >> 3) & 1;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) products[n][e] = 0;
  }
  OPCAST_UNROLL
  for (int k = 0; k < kDepth / 16; ++k) {
    uint32_t a[4];
    LoadMatrices(a, rows.Address(first + (lane & 15), 2 * k + (lane >> 4)));
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, tile.Address(n * 8 + row, k * 2 + part));
      AddProduct(products[n], a, b[0], b[1], T());
      AddProduct(products[n + 1], a, b[2], b[3], T());
    }
  }
}

// What the gradients need of a query: log2(e) times its log-sum-exp, and its delta.
struct QueryEnd {
  float lse, delta;
};

// Makes weights of products of queries and keys, and gradients of these products, without the
// factor sm_scale, of products of grad_o and values. `end(n, e)` is that of the element's query. A
// capped score is cap * (1 - u), and its slope u * (2 - u).
template <bool kCapped, class End>
OPCAST_DEVICE void Differentiate(const SightAndScores& sight, const End& end, TileScores& products,
                                 TileScores& grads) {
  const float factor = kCapped ? 2 * kLog2E * sight.scale / sight.cap : kLog2E * sight.scale;
  const float cap = kLog2E * sight.cap;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const QueryEnd query = end(n, e);
      float slope = 1, weight;
      if constexpr (kCapped) {
        const float u = __fdividef(2.0f, Exp2(products[n][e] * factor) + 1);
        slope = u * (2 - u);
        weight = Exp2(fmaf(-cap, u, cap - query.lse));
      } else {
        weight = Exp2(fmaf(products[n][e], factor, -query.lse));
      }
      products[n][e] = weight;
      grads[n][e] = weight * (grads[n][e] - query.delta) * slope;
    }
  }
}

// Whether queries in places from `first` to `last` see all keys of a tile.
OPCAST_DEVICE bool SeeAll(const SightAndScores& sight, int64_t first, int64_t last, int64_t key,
                          int64_t keys) {
  return key >= sight.Begin(last) && key + kTileKeys <= sight.End(first, keys);
}

// Makes zeros where a query does not see a key.
template <class Sees>
OPCAST_DEVICE void HideBoth(const Sees& sees, TileScores& weights, TileScores& grads) {
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      if (!sees(n, e)) weights[n][e] = grads[n][e] = 0;
    }
  }
}

// Makes NaN of the sums in columns where a row of the tile has an infinity or NaN, and the warp's
// row sees it: `sees(half, i)`. Only where not all is seen: else the products do the same.
template <class T, int kDepth, class Sees>
OPCAST_DEVICE void MarkNoNumbers(const SwizzledRows<T, kDepth>& tile, const Sees& sees,
                                 float (&sums)[kDepth / 8][4]) {
  const int column = opcast::Lane() % 4 * 2;
  OPCAST_NO_UNROLL
  for (int i = 0; i < kTileKeys; ++i) {
    const bool seen[2] = {sees(0, i), sees(1, i)};
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) {
        if (seen[e / 2] && !IsNumber(tile.At(i, n)[column + e % 2])) sums[n][e] = NAN;
      }
    }
  }
}

// Writes the warp's 16 rows of sums, times a factor, to row i at `to` + i * distance, as far as
// there are `count` rows of the block. They pass through rows of shared memory, which only this
// warp uses.
template <class T, int kDepth>
OPCAST_DEVICE void WriteRows(const float (&sums)[kDepth / 8][4], float factor,
                             const SwizzledRows<T, kDepth>& rows, int warp_row, int64_t count,
                             int columns, T* to, int64_t distance) {
  const int lane = opcast::Lane();
  OPCAST_UNROLL
  for (int half = 0; half < 2; ++half) {
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; ++n)
      opcast::Narrow(sums[n][2 * half] * factor, sums[n][2 * half + 1] * factor,
                     rows.At(warp_row + lane / 4 + half * 8, n) + lane % 4 * 2);
  }
  opcast::SyncWarp();
  constexpr int kParts = kDepth / 8;
  OPCAST_UNROLL
  for (int n = 0; n < kWarpQueries * kParts / opcast::kWarp; ++n) {
    const int place = n * opcast::kWarp + lane, i = warp_row + place / kParts;
    const int part = place % kParts;
    if (i < count && part * 8 < columns)
      *reinterpret_cast<uint4*>(to + i * distance + part * 8) =
          *reinterpret_cast<const uint4*>(rows.At(i, part));
  }
}

// What a block has in shared memory: its own rows, and two stages of what it goes over. The first
// of two matrices is of queries or keys, the second of grad_o or values.
template <class T, int kDepth>
struct GradShared {
  T rows[2][kGradRows * kDepth];
  T stages[2][2][kTileKeys * kDepth];
  float lse[2][kTileKeys], delta[2][kTileKeys];  // of queries in stages

  OPCAST_DEVICE SwizzledRows<T, kDepth> Rows(int which) { return {rows[which]}; }
  OPCAST_DEVICE SwizzledRows<T, kDepth> Stage(int at, int which) { return {stages[at][which]}; }
};
static_assert(sizeof(GradShared<opcast::bf16, 128>) <= opcast::kMostShared);

// Begins to copy as many rows as a tile has from `from` on.
template <class T, int kDepth>
OPCAST_DEVICE void FetchRows(const SwizzledRows<T, kDepth>& to, const T* from, int64_t distance,
                             int64_t rows, int64_t columns) {
  to.template Fetch<kTileKeys, kGradThreads>(static_cast<int>(threadIdx.x), from, distance, rows,
                                             static_cast<int>(columns));
}

// The first of the warp's rows in the block.
OPCAST_DEVICE int WarpRow() { return static_cast<int>(threadIdx.x) / opcast::kWarp * kWarpQueries; }

// Heads of queries that share one of keys. Divisions of 64 bits are calls.
template <class T>
OPCAST_DEVICE int GroupOf(const BackwardCall<T>& call) {
  return static_cast<int>(call.heads) / static_cast<int>(call.key_heads);
}

}  // namespace opcast_ops
