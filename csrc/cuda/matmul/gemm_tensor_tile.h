// Sums of products of two matrices of 16 bits on tensor cores, for kernels that differ in how their
// factors lie and in where the sums go.
//
// A block computes 128 by 128 elements. Its 8 warps of 32 threads compute 64 by 32 of them each, or
// its 4 warps of 64 threads 64 by 64. The hardware adds up a pass
// of terms in float; passes are then added in order. The length of a pass depends on the number of
// terms only, so bits do not depend on whether a block computes all passes of a tile, or each pass
// has a block of its own and a second kernel adds them: the way to fill a GPU where there are few
// tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "cuda/lib/gemm_factors.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kTensorTile = 128;  // rows and columns of a block
constexpr int kTensorStep = 32;   // terms in shared memory at a time, twice: next ones arrive
constexpr int kTensorThreads = 256, kTensorWarps = kTensorThreads / opcast::kWarp;
constexpr int kTensorPass = 512;    // terms of a pass, at least
constexpr int64_t kMostPasses = 8;  // as in the scratch of the definition
constexpr int64_t kFewTiles = 16;   // as there: with more, passes get no blocks of their own
constexpr int kPart = 16;           // rows and columns of a fragment
// Fragments of a warp, of which there are two below each other.
constexpr int kDown = kTensorTile / kPart / 2, kAcross = kTensorTile / kPart / (kTensorWarps / 2);
constexpr int kSumLine = kPart + 4;  // sums of a fragment on their way to memory
constexpr int kNumbers = 8;          // in 16 bytes

// Where a line's successor begins in shared memory, for different banks. Lines have the terms of a
// row, or a term of all rows: as the factor lies in memory.
template <bool along>
constexpr int kTensorLine = (along ? kTensorStep : kTensorTile) + kNumbers;

// Terms of both factors in shared memory.
template <class T>
struct TensorStage {
  static constexpr int kSize =
      std::max(kTensorTile * kTensorLine<true>, kTensorStep* kTensorLine<false>);
  T a[kSize], b[kSize];
};
static_assert(2 * sizeof(TensorStage<opcast::bf16>) <= opcast::kMostShared);

// A factor is a RowFactor or a ColumnFactor (see gemm_factors.h).
template <class Factor>
struct Fetched {
  Factor factor;
  bool whole;  // whether vectors of it begin at multiples of 16 bytes
};
template <class Factor>
Fetched<Factor> FetchedOf(const Factor& factor) {
  return {factor, reinterpret_cast<uintptr_t>(factor.data) % 16 == 0 &&
                      factor.offsets.DivisibleBy(kNumbers)};
}

// Begins to copy terms k to k + kTensorStep of the tile's rows; zeros stand for what is not there.
template <class T, class Factor>
OPCAST_DEVICE void Fetch(const Fetched<Factor>& from, int64_t first, int64_t k, int64_t end,
                         T* to) {
  constexpr bool kAlong = Factor::kAlongDepth;
  constexpr int kPerLine = (kAlong ? kTensorStep : kTensorTile) / kNumbers;
  OPCAST_UNROLL
  for (int n = 0; n < kTensorTile * kTensorStep / kNumbers / kTensorThreads; ++n) {
    const int place = n * kTensorThreads + static_cast<int>(threadIdx.x);
    const int line = place / kPerLine, column = place % kPerLine * kNumbers;
    const T* source = from.factor.At(0, first + (kAlong ? line : column));
    int64_t left = 0;  // numbers from the source on
    if (source != nullptr && kAlong) {
      left = end - k - column;
      source += k + column;
    } else if (source != nullptr && k + line < end) {
      left = from.factor.rows - first - column;
      source += from.factor.offsets(k + line);
    }
    T* const target = to + line * kTensorLine<kAlong> + column;
    if (from.whole && left >= kNumbers) {
      opcast::CopyAsync(target, source);
    } else {
      OPCAST_UNROLL
      for (int i = 0; i < kNumbers; ++i) target[i] = i < left ? source[i] : static_cast<T>(0.0f);
    }
  }
}

using Sums = opcast::wmma::fragment<opcast::wmma::accumulator, kPart, kPart, kPart, float>;
using WarpSums = Sums[kDown][kAcross];

OPCAST_DEVICE void Clear(WarpSums& sums) {
  OPCAST_UNROLL
  for (int m = 0; m < kDown; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kAcross; ++n) opcast::wmma::fill_fragment(sums[m][n], 0.0f);
  }
}

// Adds a pass to the totals and clears it.
OPCAST_DEVICE void EndPass(WarpSums& pass, WarpSums& totals) {
  OPCAST_UNROLL
  for (int m = 0; m < kDown; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kAcross; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < Sums::num_elements; ++e) totals[m][n].x[e] += pass[m][n].x[e];
    }
  }
  Clear(pass);
}

// Adds a stage's products to the warp's sums, which begin at this row and column of the tile.
template <class T, bool a_along, bool b_along>
OPCAST_DEVICE void AddStage(const TensorStage<T>& stage, int row, int column, WarpSums& sums) {
  namespace wmma = opcast::wmma;
  using Rows = wmma::row_major;
  using Columns = wmma::col_major;
  using Left = wmma::fragment<wmma::matrix_a, kPart, kPart, kPart, T,
                              std::conditional_t<a_along, Rows, Columns>>;
  using Right = wmma::fragment<wmma::matrix_b, kPart, kPart, kPart, T,
                               std::conditional_t<b_along, Columns, Rows>>;
  constexpr int kLineA = kTensorLine<a_along>, kLineB = kTensorLine<b_along>;
  OPCAST_UNROLL
  for (int k = 0; k < kTensorStep; k += kPart) {
    Right right[kAcross];
    OPCAST_UNROLL
    for (int n = 0; n < kAcross; ++n) {
      const int j = column + n * kPart;
      wmma::load_matrix_sync(right[n], stage.b + (b_along ? j * kLineB + k : k * kLineB + j),
                             kLineB);
    }
    OPCAST_UNROLL
    for (int m = 0; m < kDown; ++m) {
      const int i = row + m * kPart;
      Left left;
      wmma::load_matrix_sync(left, stage.a + (a_along ? i * kLineA + k : k * kLineA + i), kLineA);
      OPCAST_UNROLL
      for (int n = 0; n < kAcross; ++n) wmma::mma_sync(sums[m][n], left, right[n], sums[m][n]);
    }
  }
}

// What all blocks know: a block has a tile, or a pass of one.
struct TensorGrid {
  int64_t rows, columns, depth;
  int64_t pass;     // terms
  int64_t passes;   // that have blocks of their own, or 1
  float* partials;  // [passes, rows, columns] in that case, else null

  TensorGrid(int64_t rows, int64_t columns, int64_t depth, float* scratch)
      : rows(rows),
        columns(columns),
        depth(depth),
        pass(kTensorPass),
        passes(1),
        partials(nullptr) {
    const int64_t share = (depth + kMostPasses - 1) / kMostPasses;
    pass = std::max(pass, (share + kTensorStep - 1) / kTensorStep * kTensorStep);
    if (scratch == nullptr || depth <= pass || Tiles() > kFewTiles) return;
    passes = (depth + pass - 1) / pass;
    partials = scratch;
  }

  OPCAST_HOST_DEVICE int64_t Across() const { return (columns + kTensorTile - 1) / kTensorTile; }
  OPCAST_HOST_DEVICE int64_t Tiles() const {
    return (rows + kTensorTile - 1) / kTensorTile * Across();
  }
};

// The sums of terms `begin` to `end` for a warp's rows and columns of the tile at i, j.
template <class T, class A, class B>
OPCAST_DEVICE void SumTile(const Fetched<A>& a, const Fetched<B>& b, int64_t i, int64_t j,
                           int64_t begin, int64_t end, int64_t pass_length, int row, int column,
                           TensorStage<T>* stages, WarpSums& totals) {
  WarpSums pass;
  Clear(pass);
  Clear(totals);
  if (begin >= end) return;
  Fetch(a, i, begin, end, stages[0].a);
  Fetch(b, j, begin, end, stages[0].b);
  opcast::CommitCopies();
  int at = 0;
  int64_t pass_end = begin + pass_length;
  OPCAST_NO_UNROLL
  for (int64_t k = begin; k < end; k += kTensorStep, at ^= 1) {
    if (k + kTensorStep < end) {
      Fetch(a, i, k + kTensorStep, end, stages[at ^ 1].a);
      Fetch(b, j, k + kTensorStep, end, stages[at ^ 1].b);
    }
    opcast::CommitCopies();
    opcast::WaitCopies<1>();
    __syncthreads();
    AddStage<T, A::kAlongDepth, B::kAlongDepth>(stages[at], row, column, pass);
    if (k + kTensorStep >= pass_end) {
      EndPass(pass, totals);
      pass_end += pass_length;
    }
    __syncthreads();
  }
  EndPass(pass, totals);
}

// Calls f(i, j, sum) for the warp's elements, which begin at this row and column of all. `space` is
// the warp's own.
template <class F>
OPCAST_DEVICE void ForSums(const WarpSums& sums, const TensorGrid& grid, int64_t row,
                           int64_t column, float* space, F f) {
  OPCAST_UNROLL
  for (int m = 0; m < kDown; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kAcross; ++n) {
      opcast::wmma::store_matrix_sync(space, sums[m][n], kSumLine, opcast::wmma::mem_row_major);
      opcast::SyncWarp();
      OPCAST_NO_UNROLL
      for (int e = opcast::Lane(); e < kPart * kPart; e += opcast::kWarp) {
        const int64_t i = row + m * kPart + e / kPart, j = column + n * kPart + e % kPart;
        if (i < grid.rows && j < grid.columns) f(i, j, space[e / kPart * kSumLine + e % kPart]);
      }
      opcast::SyncWarp();
    }
  }
}

// Calls out(0, i, j, sum) for each row i of a and row j of b, or writes partial sums.
template <class T, class A, class B, class Out>
__global__ void __launch_bounds__(kTensorThreads, 1)
    TensorKernel(Fetched<A> a, Fetched<B> b, Out out, TensorGrid grid) {
  TensorStage<T>* const stages = opcast::DynamicShared<TensorStage<T>>();
  const int warp = threadIdx.x / opcast::kWarp;
  const int row = warp % 2 * kDown * kPart, column = warp / 2 * kAcross * kPart;
  float* const space = opcast::DynamicShared<float>() + warp * kPart * kSumLine;
  for (int64_t n = blockIdx.x; n < grid.Tiles() * grid.passes; n += gridDim.x) {
    const int64_t tile = n / grid.passes, pass = n % grid.passes;
    const int64_t i = tile / grid.Across() * kTensorTile, j = tile % grid.Across() * kTensorTile;
    const bool all = grid.partials == nullptr;
    const int64_t end = all ? grid.depth : (pass + 1) * grid.pass;
    WarpSums sums;
    SumTile(a, b, i, j, pass * grid.pass, end < grid.depth ? end : grid.depth, grid.pass, row,
            column, stages, sums);
    float* const partials = grid.partials + pass * grid.rows * grid.columns;
    ForSums(sums, grid, i + row, j + column, space, [&](int64_t to_i, int64_t to_j, float sum) {
      if (all)
        out(0, to_i, to_j, sum);
      else
        partials[to_i * grid.columns + to_j] = sum;
    });
    __syncthreads();  // the next tile's terms overwrite the sums
  }
}

// Adds the passes of each element in order.
template <class Out>
__global__ void __launch_bounds__(kTensorThreads) AddPassesKernel(Out out, TensorGrid grid) {
  const int64_t size = grid.rows * grid.columns, step = int64_t{gridDim.x} * kTensorThreads;
  for (int64_t n = int64_t{blockIdx.x} * kTensorThreads + threadIdx.x; n < size; n += step) {
    float sum = 0;
    for (int64_t pass = 0; pass < grid.passes; ++pass) sum += grid.partials[pass * size + n];
    out(0, n / grid.columns, n % grid.columns, sum);
  }
}

template <class T, class A, class B, class Out>
opcast::Status StartTiles(const opcast::Launch& launch, const A& a, const B& b, const Out& out,
                          const TensorGrid& grid) {
  return opcast::Start(TensorKernel<T, A, B, Out>, opcast::Blocks(grid.Tiles() * grid.passes),
                       kTensorThreads, 2 * sizeof(TensorStage<T>), launch, FetchedOf(a),
                       FetchedOf(b), out, grid);
}

// Computes out(0, i, j, sum) for all rows of a and b.
template <class T, class A, class B, class Out>
opcast::Status TensorProduct(const opcast::Launch& launch, const A& a, const B& b, const Out& out,
                             int64_t depth) {
  return StartTiles<T>(launch, a, b, out, {a.rows, b.rows, depth, nullptr});
}

// The same bits, sooner if there are few tiles. `scratch` has room for kMostPasses floats for each
// element of up to kFewTiles tiles.
template <class T, class A, class B, class Out>
opcast::Status TensorProduct(const opcast::Launch& launch, const A& a, const B& b, const Out& out,
                             int64_t depth, float* scratch) {
  const TensorGrid grid(a.rows, b.rows, depth, scratch);
  const opcast::Status status = StartTiles<T>(launch, a, b, out, grid);
  if (!status.ok() || grid.partials == nullptr) return status;
  const int64_t blocks = (grid.rows * grid.columns + kTensorThreads - 1) / kTensorThreads;
  return opcast::Start(AddPassesKernel<Out>, opcast::Blocks(blocks), kTensorThreads, 0, launch, out,
                       grid);
}

}  // namespace opcast_ops
