// Sums of products of two matrices in float, for kernels that differ in where their factors come
// from and where the sums go.
//
// The order of a sum depends on its length only, so bits depend neither on the tile nor on the
// place in it.
#pragma once

#include <cstdint>
#include <utility>

#include "opcast/device.h"

namespace opcast_ops {

constexpr int kProductTile = 64;      // rows and columns that a block computes
constexpr int kProductStep = 16;      // terms that are in shared memory at a time
constexpr int kProductPass = 256;     // terms that are summed before the sum joins the total
constexpr int kProductThreads = 256;  // each computes kProductShare rows and columns
constexpr int kProductShare = 4;
constexpr int kProductLoads = kProductTile * kProductStep / kProductThreads;

struct alignas(16) ProductVector {
  float at[kProductShare];
};

// Terms of a factor in shared memory, term k of row i at [k][i]. The last vector of each line is
// there so that threads write to different banks.
constexpr int kProductLine = kProductTile / kProductShare + 1;
using ProductTerms = ProductVector[kProductStep][kProductLine];

// A factor is a type with
//   static constexpr bool kAlongDepth      whether consecutive terms of a row lie side by side,
//                                          else consecutive rows do
//   Row At(int64_t part, int64_t i) const  row i of a part; rows beyond the last are asked for too
//   float Term(Row, int64_t k) const       term k of the row, zero beyond the last row
template <class Factor>
struct FactorLoader {
  using Row = decltype(std::declval<const Factor&>().At(0, 0));
  static constexpr bool kAlong = Factor::kAlongDepth;
  static constexpr int kRows = kAlong ? kProductLoads : 1;  // rows that a thread loads from

  Row rows[kRows];

  // The places in a tile that the thread's n-th load fills.
  OPCAST_DEVICE static int Place(int n) { return n * kProductThreads + threadIdx.x; }
  OPCAST_DEVICE static int I(int n) {
    return kAlong ? Place(n) / kProductStep : Place(n) % kProductTile;
  }
  OPCAST_DEVICE static int K(int n) {
    return kAlong ? Place(n) % kProductStep : Place(n) / kProductTile;
  }

  OPCAST_DEVICE FactorLoader(const Factor& factor, int64_t part, int64_t first) {
    OPCAST_UNROLL
    for (int n = 0; n < kRows; ++n) rows[n] = factor.At(part, first + I(n));
  }

  // Reads terms k to k + kProductStep of the tile's rows, zeros from `depth` on.
  OPCAST_DEVICE void Read(const Factor& factor, int64_t k, int64_t depth,
                          float (&to)[kProductLoads]) const {
    OPCAST_UNROLL
    for (int n = 0; n < kProductLoads; ++n) {
      const int64_t at = k + K(n);
      to[n] = at < depth ? factor.Term(rows[kAlong ? n : 0], at) : 0.0f;
    }
  }

  OPCAST_DEVICE static void Write(const float (&from)[kProductLoads], ProductTerms& to) {
    OPCAST_UNROLL
    for (int n = 0; n < kProductLoads; ++n)
      to[K(n)][I(n) / kProductShare].at[I(n) % kProductShare] = from[n];
  }
};

// Adds the tile's terms to the sums of the thread's rows and columns.
OPCAST_DEVICE void AddStep(const ProductTerms& a, const ProductTerms& b,
                           float (&sums)[kProductShare][kProductShare]) {
  constexpr int kAcross = kProductTile / kProductShare;
  const int i = threadIdx.x / kAcross, j = threadIdx.x % kAcross;
  OPCAST_UNROLL
  for (int k = 0; k < kProductStep; ++k) {
    const ProductVector x = a[k][i], y = b[k][j];
    OPCAST_UNROLL
    for (int m = 0; m < kProductShare; ++m) {
      OPCAST_UNROLL
      for (int n = 0; n < kProductShare; ++n) sums[m][n] = fmaf(x.at[m], y.at[n], sums[m][n]);
    }
  }
}

// Which sums of terms become one before they join the total. Another type of this kind may have
// more precise totals, or other passes that have factors of their own.
struct FloatPasses {
  using Total = float;
  // Whether a pass ends before term k, a multiple of kProductStep or the number of all terms.
  OPCAST_DEVICE bool EndAt(int64_t k) const { return k % kProductPass == 0; }
  // The factor of that pass for row i and column j, which may be beyond the last ones.
  OPCAST_DEVICE float Factor(int64_t, int64_t, int64_t) const { return 1; }
};

// Adds `passed` to the totals and clears it; i and j are the thread's first row and column.
template <class Passes>
OPCAST_DEVICE void EndPass(const Passes& passes, int64_t i, int64_t j, int64_t k,
                           float (&passed)[kProductShare][kProductShare],
                           typename Passes::Total (&totals)[kProductShare][kProductShare]) {
  OPCAST_UNROLL
  for (int m = 0; m < kProductShare; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kProductShare; ++n) {
      totals[m][n] += passed[m][n] * passes.Factor(i + m, j + n, k);
      passed[m][n] = 0;
    }
  }
}

// The sums of a tile: totals[m][n] is that of the thread's m-th row and n-th column.
template <class Passes, class A, class B>
OPCAST_DEVICE void SumTile(const Passes& passes, const A& a, const B& b, int64_t part, int64_t i,
                           int64_t j, int64_t depth,
                           typename Passes::Total (&totals)[kProductShare][kProductShare]) {
  constexpr int kAcross = kProductTile / kProductShare;
  const int64_t row = i + threadIdx.x / kAcross * kProductShare;
  const int64_t column = j + threadIdx.x % kAcross * kProductShare;
  __shared__ ProductTerms a_tile, b_tile;
  const FactorLoader<A> a_loader(a, part, i);
  const FactorLoader<B> b_loader(b, part, j);
  float passed[kProductShare][kProductShare] = {};
  float a_next[kProductLoads], b_next[kProductLoads];
  a_loader.Read(a, 0, depth, a_next);
  b_loader.Read(b, 0, depth, b_next);
  for (int64_t k = 0; k < depth; k += kProductStep) {
    FactorLoader<A>::Write(a_next, a_tile);
    FactorLoader<B>::Write(b_next, b_tile);
    __syncthreads();
    a_loader.Read(a, k + kProductStep, depth, a_next);  // on their way while this step is summed
    b_loader.Read(b, k + kProductStep, depth, b_next);
    AddStep(a_tile, b_tile, passed);
    if (passes.EndAt(k + kProductStep))
      EndPass(passes, row, column, k + kProductStep, passed, totals);
    __syncthreads();
  }
  if (!passes.EndAt(depth)) EndPass(passes, row, column, depth, passed, totals);
}

// Calls out(part, i, j, sum) for the rows of a from i on and those of b from j on that a tile has,
// with the sum of the products of their terms.
template <class A, class B, class Out, class Passes = FloatPasses>
OPCAST_DEVICE void ComputeTile(const A& a, const B& b, const Out& out, int64_t part, int64_t i,
                               int64_t j, int64_t rows, int64_t columns, int64_t depth,
                               const Passes& passes = {}) {
  constexpr int kThreadsAcross = kProductTile / kProductShare;
  typename Passes::Total sums[kProductShare][kProductShare] = {};
  SumTile(passes, a, b, part, i, j, depth, sums);
  const int64_t row = i + threadIdx.x / kThreadsAcross * kProductShare;
  const int64_t column = j + threadIdx.x % kThreadsAcross * kProductShare;
  OPCAST_UNROLL
  for (int m = 0; m < kProductShare; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kProductShare; ++n) {
      if (row + m < rows && column + n < columns) out(part, row + m, column + n, sums[m][n]);
    }
  }
}

// The same for all rows of each part.
template <class Passes, class A, class B, class Out>
__global__ void __launch_bounds__(kProductThreads)
    ProductKernel(Passes passes, A a, B b, Out out, int64_t parts, int64_t rows, int64_t columns,
                  int64_t depth) {
  const int64_t across = (columns + kProductTile - 1) / kProductTile;
  const int64_t per_part = (rows + kProductTile - 1) / kProductTile * across;
  for (int64_t tile = blockIdx.x; tile < parts * per_part; tile += gridDim.x) {
    const int64_t part = tile / per_part;
    const int64_t i = tile % per_part / across * kProductTile, j = tile % across * kProductTile;
    ComputeTile(a, b, out, part, i, j, rows, columns, depth, passes);
  }
}

template <class A, class B, class Out, class Passes = FloatPasses>
opcast::Status Product(const opcast::Launch& launch, const A& a, const B& b, const Out& out,
                       int64_t parts, int64_t rows, int64_t columns, int64_t depth,
                       const Passes& passes = {}) {
  const int64_t tiles = parts * ((rows + kProductTile - 1) / kProductTile) *
                        ((columns + kProductTile - 1) / kProductTile);
  return opcast::Start(ProductKernel<Passes, A, B, Out>, opcast::Blocks(tiles), kProductThreads, 0,
                       launch, passes, a, b, out, parts, rows, columns, depth);
}

}  // namespace opcast_ops
