// How the rows of sequences are cut into tiles, one for each block and head.
#pragma once

#include "cuda/attention/ragged_sequences.h"

namespace opcast_ops {

// Blocks for the tiles of kRows rows of one head: as many as the formula below numbers, and at
// least one for each kRows rows of the array.
template <int kRows>
int64_t TilesOf(int64_t rows, int64_t sequences) {
  return rows / kRows + sequences + 1;
}

// The rows of a block: `count` from `first` on of sequence `b`, which begins at `begin`. Sequence b
// has the blocks from Begin(b) / kRows + b on, of which there are always enough, so that nobody has
// to add up lengths. A block without rows has a count of 0.
template <int kRows>
struct TileOfRows {
  int64_t b, begin, first, count;

  OPCAST_DEVICE static int64_t FirstBlock(const Offsets& offsets, int64_t b) {
    return offsets.Begin(b) / kRows + b;
  }
  OPCAST_DEVICE TileOfRows(const Offsets& offsets, int64_t block)
      : b(-1), begin(0), first(0), count(0) {
    int64_t high = offsets.sequences;
    while (high - b > 1) {
      const int64_t middle = (b + high) / 2;
      (FirstBlock(offsets, middle) <= block ? b : high) = middle;
    }
    if (b < 0) return;
    begin = offsets.Begin(b);
    first = (block - FirstBlock(offsets, b)) * kRows;
    const int64_t left = offsets.Length(b) - first;
    count = left < 0 ? 0 : left < kRows ? left : kRows;
  }
};

// Writes zeros to those of the block's rows of the array that belong to no sequence.
template <int kRows, int kThreads, class T>
OPCAST_DEVICE void ClearOutside(const Offsets& offsets, int64_t block, int64_t head, int64_t heads,
                                int64_t width, T* to) {
  const int64_t begin = offsets.sequences > 0 ? offsets.Begin(0) : offsets.rows;
  const int64_t end = offsets.sequences > 0 ? offsets.Begin(offsets.sequences) : 0;
  for (int i = static_cast<int>(threadIdx.x) / opcast::kWarp; i < kRows;
       i += kThreads / opcast::kWarp) {
    const int64_t row = block * kRows + i;
    if (row >= offsets.rows || (row >= begin && row < end)) continue;
    for (int64_t c = opcast::Lane(); c < width; c += opcast::kWarp)
      to[(row * heads + head) * width + c] = static_cast<T>(0.0f);
  }
}

}  // namespace opcast_ops
