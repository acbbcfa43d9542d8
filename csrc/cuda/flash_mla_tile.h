// What a block of multi-head latent attention has in shared memory, and how queries come there.
#pragma once

#include <cstdint>

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

// What the kernels get. A class derived from it has a position's rows: Length(b) of them from
// Begin(b) on, to be cut into Splits(length); and ReadRows(row, count, shared), which copies rows
// and their scales to shared memory, zeros beyond `count`.
struct MlaCall {
  const bf16* q;
  int64_t positions, heads, most_splits;
  float scale;
  float *o_part, *lse_part;
  bf16* o;
  float* lse;

  OPCAST_DEVICE int64_t SplitsFor(int64_t length) const {
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

static_assert(sizeof(Shared) <= opcast::kMostShared);

// Copies queries; those of heads that are not there are zero.
OPCAST_DEVICE void ReadQueries(const MlaCall& call, int64_t b, int64_t first, Shared& shared) {
  OPCAST_NO_UNROLL
  for (int n = threadIdx.x; n < kHeads * kWidth; n += kThreads) {
    const int64_t head = first + n / kWidth, at = (b * call.heads + head) * kWidth + n % kWidth;
    shared.q[n / kWidth * kLine + n % kWidth] =
        head < call.heads ? call.q[at] : static_cast<bf16>(0.0f);
  }
}

}  // namespace opcast_ops
