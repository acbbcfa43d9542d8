// Products of groups of rows, each with a matrix of its own, in blocks: see gemm_blocks.h.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/lib/gemm_blocks.h"

namespace opcast_ops {

// Rows of a matrix by group: group g has the rows offsets[g] to offsets[g + 1], or the first
// counts[g] of them.
struct RowGroups {
  const int32_t* offsets;
  int64_t count;
  const int32_t* counts = nullptr;

  int64_t Begin(int64_t g) const { return offsets[g]; }
  int64_t Rows(int64_t g) const {
    const int64_t rows = int64_t{offsets[g + 1]} - offsets[g];
    return counts == nullptr ? rows : std::clamp<int64_t>(counts[g], 0, rows);
  }
  int64_t BlocksOf(int64_t g) const { return (Rows(g) + kBlockRows - 1) / kBlockRows; }
  int64_t AllBlocks() const {
    int64_t all = 0;
    for (int64_t g = 0; g < count; ++g) all += BlocksOf(g);
    return all;
  }
};

// A row of blocks: that of a group, from row i of the group on.
struct GroupPlace {
  int64_t group, i;
};
inline GroupPlace PlaceOf(const RowGroups& groups, int64_t index) {
  int64_t g = 0;
  for (; index >= groups.BlocksOf(g); ++g) index -= groups.BlocksOf(g);
  return {g, index * kBlockRows};
}

// Calls finish(first, block, sums, width) for each block of the products of groups of rows with
// their matrices: row i of the block is row first + i. multiply(first, group, block, space, width)
// adds its products to space->sums.
template <class Multiplier, class Finish>
void ForBlocksOfGroups(const opcast::Launch& launch, const RowGroups& groups, const Blocks& like,
                       Multiplier multiply, Finish finish) {
  const int64_t across = like.Across();
  opcast::ParallelFor(launch, groups.AllBlocks() * across, like.PerChunk(),
                      [&](int64_t begin, int64_t end, auto width) {
                        ProductSpace* const space = SpaceOfThread();
                        for (int64_t index = begin; index < end; ++index) {
                          const GroupPlace place = PlaceOf(groups, index / across);
                          const int64_t first = groups.Begin(place.group);
                          Block block = like.At(index % across);
                          block.i = place.i;
                          block.rows = std::min(kBlockRows, groups.Rows(place.group) - place.i);
                          block.few = block.rows <= kFewRows;
                          Clear(block, space->sums);
                          multiply(first, place.group, block, space, width);
                          finish(first + place.i, block, space->sums, width);
                        }
                      });
}

// The same for rows of `a` and matrices of `b` that lie in memory; each matrix has `lines` lines.
template <class Finish>
void ForGroups(const opcast::Launch& launch, const RowGroups& groups, const Blocks& like,
               const Factor& a, const Factor& b, int64_t lines, Finish finish) {
  const auto multiply = [&](int64_t first, int64_t group, const Block& block, ProductSpace* space,
                            auto width) {
    Factor left = a, right = b;
    left.first = first;
    right.first = group * lines;
    Multiply(left, right, block, like.Depth(), space, width);
  };
  ForBlocksOfGroups(launch, groups, like, multiply, finish);
}

// The shape of a group's product if all groups had equally many rows.
inline Blocks BlocksLike(int64_t rows, int64_t groups, int64_t columns, int64_t depth) {
  return {rows / std::max<int64_t>(1, groups) + 1, columns, depth};
}

// Calls clear(begin, end) for the rows before the first group and behind the last one.
template <class ClearRows>
void ForOthers(const RowGroups& groups, int64_t rows, ClearRows clear) {
  clear(int64_t{0}, groups.Begin(0));
  clear(groups.Begin(groups.count), rows);
}

}  // namespace opcast_ops
