// Attention on tensor cores: a block has 128 queries of one head and goes over the keys that they
// see, 64 at a time.
//
// What it computes is what attention.h says. A warp has 16 queries; its scores, weights and sums
// stay in registers, as in FlashAttention-2. Each weight enters the second product as two numbers
// of 16 bits, w = high + low, so that results are as exact as with weights in float; this costs
// half as much again. Keys and values come by cp.async, two tiles of each; rows of shared memory
// are swizzled, so that ldmatrix meets no bank twice.
//
// Depths of keys and of values are multiples of 8 of at most kDepth; what lacks is zero.
// Registers: about 170 with kDepth = 128. Shared memory: (128 + 4 * 64) rows of kDepth numbers, 96
// KiB.
#pragma once

#include <cmath>
#include <cstdint>

#include "attention.h"
#include "tensor_cores.h"

namespace opcast_ops {

constexpr int kTileQueries = 128, kTileKeys = 64, kTileThreads = 256;
constexpr int kWarpQueries = 16,
              kKeyParts = kTileKeys / 8;  // parts of 8 keys are columns of a product
constexpr int kTileRoom =
    kTileQueries * 128;  // numbers for the queries, and later for weights in float
constexpr float kLog2E = 1.44269504f, kLn2 = 0.69314718f;

// A matrix in shared memory with rows of kDepth numbers. The places of 16 bytes within a row are
// permuted by the row.
template <class T, int kDepth>
struct SwizzledRows {
  T* base;

  OPCAST_DEVICE T* At(int row, int part) const {
    return base + row * kDepth + ((part ^ (row & 7)) * 8);
  }
  OPCAST_DEVICE uint32_t Address(int row, int part) const { return SharedAddress(At(row, part)); }

  // Begins to copy rows [0, kRows): row i from `from` + i * distance if i < rows, else zeros.
  template <int kRows>
  OPCAST_DEVICE void Fetch(const T* from, int64_t distance, int64_t rows, int columns) const {
    constexpr int kParts = kDepth / 8;
    OPCAST_UNROLL
    for (int n = 0; n < kRows * kParts / kTileThreads; ++n) {
      const int place = n * kTileThreads + static_cast<int>(threadIdx.x);
      const int row = place / kParts, part = place % kParts;
      const bool there = row < rows && part * 8 < columns;
      CopyOrZero(Address(row, part), there ? from + row * distance + part * 8 : from,
                 there ? 16 : 0);
    }
  }
};

// Which keys a query of the tile sees: those from Begin to End.
struct TileSight {
  SightAndScores sight;
  int64_t keys;

  OPCAST_DEVICE bool Sees(int64_t place, int64_t key) const {
    return key >= sight.Begin(place) && key < sight.End(place, keys);
  }
  // Whether all queries from `first` to `last` see all keys of a tile.
  OPCAST_DEVICE bool Whole(int64_t first, int64_t last, int64_t key) const {
    return key >= sight.Begin(last) && key + kTileKeys <= sight.End(first, keys);
  }
};

// What a lane knows of its two queries, g and g + 8: the largest score so far and the sum of the
// weights, of which each of four lanes has a part. Scores are times log2(e).
struct TileRows {
  float largest[2], sum[2];
};

// The products of the warp's queries and the keys of a tile.
template <class T, int kDepth>
OPCAST_DEVICE void Multiply(const uint32_t (&q)[kDepth / 16][4],
                            const SwizzledRows<T, kDepth>& keys, float (&scores)[kKeyParts][4]) {
  const int lane = opcast::Lane(), row = (lane & 7) + ((lane >> 4) << 3), part = (lane >> 3) & 1;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) scores[n][e] = 0;
  }
  OPCAST_UNROLL
  for (int k = 0; k < kDepth / 16; ++k) {
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, keys.Address(n * 8 + row, k * 2 + part));
      AddProduct(scores[n], q[k], b[0], b[1], T());
      AddProduct(scores[n + 1], q[k], b[2], b[3], T());
    }
  }
}

// Turns products of queries and keys into scores in units of log2(e). A capped one is cap - 2 * cap
// / (1 + e^(2x)).
template <bool kCapped>
OPCAST_DEVICE void Scale(const SightAndScores& sight, float (&scores)[kKeyParts][4]) {
  const float factor = kCapped ? 2 * kLog2E * sight.scale / sight.cap : kLog2E * sight.scale;
  const float cap = kLog2E * sight.cap;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float score = scores[n][e] * factor;
      scores[n][e] = kCapped ? fmaf(cap, __fdividef(-2.0f, Exp2(score) + 1), cap) : score;
    }
  }
}

// Hides the keys that queries do not see.
OPCAST_DEVICE void Hide(const TileSight& sight, int64_t place, int64_t key,
                        float (&scores)[kKeyParts][4]) {
  const int column = opcast::Lane() % 4 * 2;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      if (!sight.Sees(place + e / 2 * 8, key + n * 8 + column + e % 2)) scores[n][e] = -INFINITY;
    }
  }
}

// Makes weights of scores; `sums` are shrunk where there is a larger score than before.
template <int kParts>
OPCAST_DEVICE void Weigh(float (&scores)[kKeyParts][4], TileRows* rows, float (&sums)[kParts][4]) {
  const auto larger = [](float a, float b) { return fmaxf(a, b); };
  OPCAST_UNROLL
  for (int half = 0; half < 2; ++half) {
    float most = rows->largest[half];
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; ++n)
      most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    most = opcast::WarpReduce(most, larger, 4);
    const float least = most == -INFINITY ? 0.0f : most;  // no key is seen yet
    const float shrink = Exp2(rows->largest[half] - least);
    rows->largest[half] = most;
    float sum = 0;
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; ++n) {
      OPCAST_UNROLL
      for (int e = 2 * half; e < 2 * half + 2; ++e) {
        scores[n][e] = Exp2(scores[n][e] - least);
        sum += scores[n][e];
      }
    }
    rows->sum[half] = rows->sum[half] * shrink + sum;
    OPCAST_UNROLL
    for (int n = 0; n < kParts; ++n) {
      sums[n][2 * half] *= shrink;
      sums[n][2 * half + 1] *= shrink;
    }
  }
}

// The part of a weight that 16 bits hold, and what they lack, for the keys of a product: 16 of the
// tile.
template <class T>
OPCAST_DEVICE void Split(const float (&weights)[kKeyParts][4], int k, uint32_t (&high)[4],
                         uint32_t (&low)[4]) {
  OPCAST_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float first = weights[2 * k + i / 2][i % 2 * 2],
                second = weights[2 * k + i / 2][i % 2 * 2 + 1];
    high[i] = Pack<T>(first, second);
    T both[2];
    __builtin_memcpy(both, &high[i], 4);
    low[i] = Pack<T>(first - static_cast<float>(both[0]), second - static_cast<float>(both[1]));
  }
}

// Adds the weighted values of a tile.
template <class T, int kDepth>
OPCAST_DEVICE void AddTile(const float (&weights)[kKeyParts][4],
                           const SwizzledRows<T, kDepth>& values, float (&sums)[kDepth / 8][4]) {
  const int lane = opcast::Lane(), row = lane & 15, part = lane >> 4;
  OPCAST_UNROLL
  for (int k = 0; k < kTileKeys / 16; ++k) {
    uint32_t high[4], low[4];
    Split<T>(weights, k, high, low);
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; n += 2) {
      uint32_t b[4];
      LoadTransposed(b, values.Address(k * 16 + row, n + part));
      AddProduct(sums[n], high, b[0], b[1], T());
      AddProduct(sums[n + 1], high, b[2], b[3], T());
      AddProduct(sums[n], low, b[0], b[1], T());
      AddProduct(sums[n + 1], low, b[2], b[3], T());
    }
  }
}

// The same number by number, for tiles with infinite values or NaN of which some queries do not see
// all: 0 times such a value would reach them. `room` holds the weights of the warp, -1 for keys
// that are not seen.
template <class T, int kDepth>
OPCAST_DEVICE void AddSeen(const float (&weights)[kKeyParts][4], const TileSight& sight,
                           int64_t place, int64_t key, const SwizzledRows<T, kDepth>& values,
                           float* room, float (&sums)[kDepth / 8][4]) {
  const int g = opcast::Lane() / 4, column = opcast::Lane() % 4 * 2;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int at = n * 8 + column + e % 2;
      const bool seen = sight.Sees(place + e / 2 * 8, key + at);
      room[(g + e / 2 * 8) * kTileKeys + at] = seen ? weights[n][e] : -1.0f;
    }
  }
  opcast::SyncWarp();
  OPCAST_NO_UNROLL
  for (int i = 0; i < kTileKeys; ++i) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float weight = room[(g + e / 2 * 8) * kTileKeys + i];
      if (weight < 0) continue;
      OPCAST_UNROLL
      for (int n = 0; n < kDepth / 8; ++n)
        sums[n][e] = fmaf(weight, static_cast<float>(values.At(i, n)[column + e % 2]), sums[n][e]);
    }
  }
  opcast::SyncWarp();
}

// Whether the calling thread's part of a tile has infinities or NaN.
template <class T, int kDepth>
OPCAST_DEVICE bool HasNoNumber(const SwizzledRows<T, kDepth>& values) {
  bool found = false;
  OPCAST_UNROLL
  for (int n = 0; n < kTileKeys * kDepth / 8 / kTileThreads; ++n) {
    const T* const at = values.base + (n * kTileThreads + static_cast<int>(threadIdx.x)) * 8;
    OPCAST_UNROLL
    for (int e = 0; e < 8; ++e) {
      const float value = static_cast<float>(at[e]);
      found = found || !(value - value == 0);
    }
  }
  return found;
}

}  // namespace opcast_ops
