// What a block of multi-head latent attention has in shared memory, and how queries come there.
#pragma once

#include <cstdint>

#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

using opcast::bf16;
using opcast::kWarp;

constexpr int kWidth = 512, kPlain = 448, kRotary = kWidth - kPlain;  // columns of a row
constexpr int kTile = 64, kTiles = kWidth / kTile;  // columns of one scale; the last has none
constexpr int kScales = kTiles - 1;
constexpr int kRows = opcast::kMostShared < (96 << 10) ? 16 : 32;  // rows in shared memory
constexpr int kHeads = 16;                                         // of a block
constexpr int kPart = 16;                                          // rows and columns of a fragment
constexpr int kThreads = 256, kWarps = kThreads / kWarp;
constexpr int kWarpTiles = kTiles / kWarps;          // tiles of columns of a warp
constexpr int kAcross = kWarpTiles * kTile / kPart;  // fragments of a warp's sums
constexpr int kHeadThreads = kThreads / kHeads;      // that weigh the rows for one head
constexpr int kOwnRows = kRows / kHeadThreads;       // of each of them
// Where the successors of rows begin in shared memory, for different banks.
constexpr int kLine = kWidth + 8, kScoreLine = kRows + 4, kWeightLine = kRows + 8;
constexpr float kSlack = 5;        // how far scores may exceed the one that weights are relative to
constexpr int64_t kShortest = 64;  // rows of a split, at least
constexpr int64_t kEnough = 128;   // splits of all sequences that keep a GPU busy

// What the kernels get. A class derived from it has a position's rows: Length(b) of them from
// Begin(b) on, to be cut into Splits(length); flash_mla_rows.h says how it gives them.
struct MlaCall {
  const bf16* q;
  int64_t positions, heads, most_splits;
  float scale;
  float *o_part, *lse_part;
  bf16* o;
  float* lse;
  bool aligned;  // whether q, o_part and parts of rows are vectors

  OPCAST_DEVICE int64_t SplitsFor(int64_t length) const {
    const int64_t splits = length < kShortest ? 1 : length / kShortest;
    return splits < most_splits ? splits : most_splits;
  }
};

// What a block has in shared memory.
struct Shared {
  alignas(16) bf16 q[kHeads * kLine];
  bf16 rows[kRows * kLine];                         // of the cache, without scales
  float scores[kTiles * kHeads * kScoreLine];       // of each tile of columns
  bf16 weights[kTiles * 2 * kHeads * kWeightLine];  // times a tile's scales, in two parts
  float scales[kTiles * kRows];
  float factors[kHeads];  // of what was summed before; in the end, of all that was summed
};

static_assert(sizeof(Shared) <= opcast::kMostShared);

// Copies queries; those of heads that are not there are zero.
OPCAST_DEVICE void ReadQueries(const MlaCall& call, int64_t b, int64_t first, Shared& shared) {
  constexpr int kSize = Vector<bf16>::kSize, kVectors = kWidth / kSize;
  const bf16* const q = call.q + (b * call.heads + first) * kWidth;
  const int64_t there = (call.heads - first) * kWidth;  // numbers, at least
  if (call.aligned) {
    const int own = threadIdx.x / kVectors, column = threadIdx.x % kVectors * kSize;
    OPCAST_UNROLL
    for (int head = 0; head < kHeads; head += kThreads / kVectors) {
      const int at = (head + own) * kWidth + column;
      Vector<bf16> vector{};
      if (at < there) vector = Load<true>(q, at, there);
      Store<true>(vector, shared.q + (head + own) * kLine, column, kWidth);
    }
  } else {
    OPCAST_NO_UNROLL
    for (int n = threadIdx.x; n < kHeads * kWidth; n += kThreads)
      shared.q[n / kWidth * kLine + n % kWidth] = n < there ? q[n] : static_cast<bf16>(0.0f);
  }
}

}  // namespace opcast_ops
