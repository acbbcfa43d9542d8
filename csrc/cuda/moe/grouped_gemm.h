// Products of groups of rows, each with a matrix of its own: see gemm_float_tile.h.
#pragma once

#include <cstdint>

#include "cuda/lib/gemm_factors.h"
#include "cuda/lib/gemm_float_tile.h"

namespace opcast_ops {

// Rows of a matrix by group: group g has the rows offsets[g] to offsets[g + 1], or the first
// counts[g] of them. Offsets that the definition forbids lead to wrong results, but not out of the
// matrix.
struct RowGroups {
  const int32_t* offsets;
  int64_t count, rows;
  const int32_t* counts = nullptr;

  OPCAST_DEVICE int64_t Begin(int64_t g) const {
    const int64_t offset = offsets[g];
    return offset < 0 ? 0 : offset > rows ? rows : offset;
  }
  OPCAST_DEVICE int64_t Rows(int64_t g) const {
    int64_t all = Begin(g + 1) - Begin(g);
    if (counts != nullptr && counts[g] < all) all = counts[g];
    return all < 0 ? 0 : all;
  }

  // As many rows of tiles as there are at most.
  int64_t MostTiles() const { return rows / kProductTile + count; }

  // The group that has a row.
  OPCAST_DEVICE int64_t Of(int64_t row) const {
    int64_t low = 0, high = count;
    while (high - low > 1) {
      const int64_t middle = (low + high) / 2;
      (Begin(middle) > row ? high : low) = middle;
    }
    return low;
  }

  // The group of a row of tiles, or `count`; tile becomes its number in the group.
  OPCAST_DEVICE int64_t Find(int64_t* tile) const {
    int64_t g = 0;
    for (; g < count; ++g) {
      const int64_t tiles = (Rows(g) + kProductTile - 1) / kProductTile;
      if (*tile < tiles) break;
      *tile -= tiles;
    }
    return g;
  }
};

// Writes sums to a dense matrix.
template <class T>
struct RowsOut {
  T* to;
  int64_t columns;

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, float sum) const {
    to[i * columns + j] = static_cast<T>(sum);
  }
};

// out(row, column, sum) for the products of groups of rows of a with matrices of b. Work has
//   Left(begin, rows)   the factor of a group's rows
//   Right(g)            that of its matrix
//   Out(g, begin)       what takes the sums, as in ComputeTile
template <class Work>
__global__ void __launch_bounds__(kProductThreads)
    GroupedRowsKernel(Work work, RowGroups groups, int64_t tiles, int64_t columns, int64_t depth) {
  const int64_t across = (columns + kProductTile - 1) / kProductTile;
  for (int64_t index = blockIdx.x; index < tiles * across; index += gridDim.x) {
    int64_t tile = index / across;
    const int64_t g = groups.Find(&tile);
    if (g == groups.count) continue;
    const int64_t begin = groups.Begin(g), rows = groups.Rows(g);
    ComputeTile(work.Left(begin, rows), work.Right(g), work.Out(g, begin), 0, tile * kProductTile,
                index % across * kProductTile, rows, columns, depth);
  }
}

template <class Work>
opcast::Status GroupedRows(const opcast::Launch& launch, const Work& work, const RowGroups& groups,
                           int64_t columns, int64_t depth) {
  const int64_t tiles = groups.MostTiles();
  const int64_t across = (columns + kProductTile - 1) / kProductTile;
  return opcast::Start(GroupedRowsKernel<Work>, opcast::Blocks(tiles * across), kProductThreads, 0,
                       launch, work, groups, tiles, columns, depth);
}

// Clears the rows that no group has.
template <class T>
__global__ void __launch_bounds__(kProductThreads)
    ClearOthersKernel(T* matrix, RowGroups groups, int64_t columns) {
  for (int64_t i = blockIdx.x; i < groups.rows; i += gridDim.x) {
    if (i >= groups.Begin(0) && i < groups.Begin(groups.count)) {
      if (groups.counts == nullptr) continue;
      const int64_t g = groups.Of(i);
      if (i < groups.Begin(g) + groups.Rows(g)) continue;
    }
    for (int64_t j = threadIdx.x; j < columns; j += kProductThreads)
      matrix[i * columns + j] = static_cast<T>(0.0f);
  }
}

template <class T>
opcast::Status ClearOthers(const opcast::Launch& launch, T* matrix, const RowGroups& groups,
                           int64_t columns) {
  return opcast::Start(ClearOthersKernel<T>, opcast::Blocks(groups.rows), kProductThreads, 0,
                       launch, matrix, groups, columns);
}

}  // namespace opcast_ops
