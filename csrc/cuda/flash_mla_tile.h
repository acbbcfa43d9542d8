// What a block of flash_mla_decode has in shared memory, and how rows of the cache come there.
#pragma once

#include <cstdint>

#include "opcast/device.h"
#include "vectors.h"

namespace opcast_ops {

using opcast::bf16;
using opcast::kWarp;

constexpr int kWidth = 512, kPlain = 448, kRotary = kWidth - kPlain;  // columns of a row
constexpr int kTile = 64, kTiles = kWidth / kTile;  // columns of one scale; the last has none
constexpr int kScales = kTiles - 1;
constexpr int kRows = 32;   // rows in shared memory
constexpr int kHeads = 16;  // of a block
constexpr int kPart = 16;   // rows and columns of a fragment
constexpr int kWarps = 4, kThreads = kWarps * kWarp;
constexpr int kWarpTiles = kTiles / kWarps;          // tiles of columns of a warp
constexpr int kAcross = kWarpTiles * kTile / kPart;  // fragments of a warp's sums
constexpr int kHeadThreads = kThreads / kHeads;      // that weigh the rows for one head
constexpr int kOwnRows = kRows / kHeadThreads;       // of each of them
// Where the successors of rows begin in shared memory, for different banks.
constexpr int kLine = kWidth + 8, kScoreLine = kRows + 4, kWeightLine = kRows + 8;
constexpr float kSlack = 5;        // how far scores may exceed the one that weights are relative to
constexpr int64_t kShortest = 64;  // rows of a split, at least
constexpr int64_t kEnough = 128;   // splits of all sequences that keep a GPU busy

// What the kernels get.
template <class F>
struct Cache {
  const bf16* q;
  const F* plain;
  const bf16* rotary;
  const float* scales;
  const int32_t* offsets;
  int64_t sequences, heads, rows, most_splits;
  float scale;
  float *o_part, *lse_part;
  bf16* o;
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

// What a block has in shared memory.
struct Shared {
  bf16 q[kHeads * kLine];
  bf16 rows[kRows * kLine];                         // of the cache, without scales
  float scores[kTiles * kHeads * kScoreLine];       // of each tile of columns
  bf16 weights[kTiles * 2 * kHeads * kWeightLine];  // times a tile's scales, in two parts
  float scales[kRows * kTiles];
  float factors[kHeads];  // of what was summed before; in the end, the sums of weights
};

// Copies queries; those of heads that are not there are zero.
template <class F>
OPCAST_DEVICE void ReadQueries(const Cache<F>& cache, int64_t b, int64_t first, Shared& shared) {
  OPCAST_NO_UNROLL
  for (int n = threadIdx.x; n < kHeads * kWidth; n += kThreads) {
    const int64_t head = first + n / kWidth, at = (b * cache.heads + head) * kWidth + n % kWidth;
    shared.q[n / kWidth * kLine + n % kWidth] =
        head < cache.heads ? cache.q[at] : static_cast<bf16>(0.0f);
  }
}

template <class T>
OPCAST_DEVICE void ReadVector(const T* from, int64_t begin, int64_t n, bool aligned, bf16* to) {
  const bool whole = aligned && begin + Vector<T>::kSize <= n;
  const Vector<T> vector = whole ? Load<true>(from, begin, n) : Load<false>(from, begin, n);
  OPCAST_UNROLL
  for (int i = 0; i < Vector<T>::kSize; ++i)
    to[i] = static_cast<bf16>(static_cast<float>(vector.at[i]));
}

// Copies cache rows and their scales; those beyond `count` are zero.
template <class F>
OPCAST_DEVICE void ReadRows(const Cache<F>& cache, int64_t first, int count, Shared& shared) {
  constexpr int kPlainSize = Vector<F>::kSize, kRotarySize = Vector<bf16>::kSize;
  constexpr int kPlainVectors = kPlain / kPlainSize;
  constexpr int kVectors = kPlainVectors + kRotary / kRotarySize;
  OPCAST_NO_UNROLL
  for (int n = threadIdx.x; n < kRows * kVectors; n += kThreads) {
    const int i = n / kVectors, part = n % kVectors;
    const int64_t row = first + i;
    bf16* const to = shared.rows + i * kLine;
    if (part < kPlainVectors) {
      const int column = part * kPlainSize;
      ReadVector(cache.plain, row * kPlain + column, (first + count) * kPlain, cache.aligned,
                 to + column);
    } else {
      const int column = (part - kPlainVectors) * kRotarySize;
      ReadVector(cache.rotary, row * kRotary + column, (first + count) * kRotary, cache.aligned,
                 to + kPlain + column);
    }
  }
  OPCAST_NO_UNROLL
  for (int n = threadIdx.x; n < kRows * kTiles; n += kThreads) {
    const int i = n / kTiles, tile = n % kTiles;
    const float scale = tile == kScales ? 1.0f
                        : i < count     ? cache.scales[(first + i) * kScales + tile]
                                        : 0.0f;
    shared.scales[n] = i < count ? scale : 0.0f;
  }
}

}  // namespace opcast_ops
