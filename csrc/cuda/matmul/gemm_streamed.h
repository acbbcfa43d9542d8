// Products a @ b.T on tensor cores whose right factor is read from memory once and goes into
// registers: for few rows of a, where reading b is what takes time. For sm_80 and newer; only nvcc
// compiles this (see tensor_cores.h).
//
// A block has 8 * kParts columns and 16 * kTiles rows. Its 8 warps share the depth: warp w adds up
// units w * n / 8 to (w + 1) * n / 8 of n, and the 8 sums are added in order. So bits depend on
// the depth only. A lane reads 16 bytes of a row of b, and the numbers of a that meet them; terms
// within an instruction have another order than in memory, the same for both factors.
//
// Registers: at most 255. Shared memory: 4 KiB for each 16 rows and 8 columns.
#pragma once

#include <cstdint>

#include "cuda/lib/tensor_cores.h"

namespace opcast_ops {

constexpr int kStreamWarps = 8, kStreamThreads = kStreamWarps * 32;

// The numbers of a lane in a piece of a row: kPairs registers with two numbers of 16 bits each.
template <int kPairs>
struct Piece {
  uint32_t at[kPairs];
};

// A row of a or b: `data` and the distance to the next row, in bytes. Rows beyond the last are the
// last.
struct StreamedRows {
  const uint8_t* data;
  int64_t distance, rows;

  OPCAST_DEVICE const uint8_t* Row(int64_t i) const {
    return data + (i < rows ? i : rows - 1) * distance;
  }
};

OPCAST_DEVICE uint4 Load16(const uint8_t* from) { return *reinterpret_cast<const uint4*>(from); }
// Of what is read once: it need not stay in the first cache.
OPCAST_DEVICE uint4 LoadOnce(const uint8_t* from) {
  uint4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

// Adds the products of a lane's pieces: two pairs of each are the terms of one instruction.
template <class T, int kPairs>
OPCAST_DEVICE void AddPieces(float (&c)[4], const Piece<kPairs>& upper, const Piece<kPairs>& lower,
                             const Piece<kPairs>& right) {
  OPCAST_UNROLL
  for (int p = 0; p < kPairs; p += 2) {
    const uint32_t a[4] = {upper.at[p], lower.at[p], upper.at[p + 1], lower.at[p + 1]};
    AddProduct(c, a, right.at[p], right.at[p + 1], T());
  }
}

// What differs between ops is a type like this, with the types Codes, Zero and Number (f16 or
// bf16):
//
//   static constexpr int kPairs   registers of a piece: a step has 8 * kPairs terms
//   static constexpr int kTiles   of 16 rows that a block has where there are more than 16
//   StreamedRows a, b
//   int64_t units, steps          of the depth, and in each unit
//   Piece<kPairs> Left(int64_t row, int64_t step, int t) const
//   Codes Right(int64_t row, int64_t step, int t) const   what lane t of four reads of b
//   Zero ZeroOf(int64_t column, int64_t unit) const       what stands for zero there
//   Piece<kPairs> Numbers(Codes, Zero) const
//   float RowFactor(int64_t row, int64_t unit) const      of the sums of a unit, and
//   float ColumnFactor(int64_t column, int64_t unit) const
//   void operator()(int64_t row, int64_t column, float sum) const   writes a result
template <int kTiles, int kParts>
using StreamedSums = float[kTiles][kParts][4];

// sum * row * column + total. Where the product of the factors leaves the range of floats, or
// nearly so, the result need not.
OPCAST_DEVICE float Scaled(float sum, float row, float column, float total) {
  const float factor = row * column;
  if (fabsf(factor) >= 0x1p-100f && fabsf(factor) <= 0x1p100f) return fmaf(sum, factor, total);
  return static_cast<float>(double{sum} * row * column + total);
}

// The factors of a unit's sums for the lane's rows and columns.
template <int kTiles, int kParts>
struct UnitFactors {
  float rows[kTiles][2], columns[kParts][2];

  template <class Op>
  OPCAST_DEVICE UnitFactors(const Op& op, int64_t row, int64_t column, int64_t unit) {
    const int g = opcast::Lane() / 4, t = opcast::Lane() % 4;
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      OPCAST_UNROLL
      for (int m = 0; m < kTiles; ++m)
        rows[m][half] = op.RowFactor(row + 16 * m + g + 8 * half, unit);
      OPCAST_UNROLL
      for (int n = 0; n < kParts; ++n)
        columns[n][half] = op.ColumnFactor(column + 8 * n + 2 * t + half, unit);
    }
  }
  // Adds the sums of the unit to the totals and clears them.
  OPCAST_DEVICE void EndUnit(StreamedSums<kTiles, kParts>& sums,
                             StreamedSums<kTiles, kParts>& totals) const {
    OPCAST_UNROLL
    for (int m = 0; m < kTiles; ++m) {
      OPCAST_UNROLL
      for (int n = 0; n < kParts; ++n) {
        OPCAST_UNROLL
        for (int e = 0; e < 4; ++e) {
          totals[m][n][e] =
              Scaled(sums[m][n][e], rows[m][e / 2], columns[n][e % 2], totals[m][n][e]);
          sums[m][n][e] = 0;
        }
      }
    }
  }
};

// The products of a step, added to the sums.
template <int kTiles, int kParts, class Op, class Codes>
OPCAST_DEVICE void AddStep(const Op& op, int64_t row, int64_t column, int64_t step, int64_t unit,
                           const Codes& codes, StreamedSums<kTiles, kParts>& sums) {
  const int g = opcast::Lane() / 4, t = opcast::Lane() % 4;
  Piece<Op::kPairs> left[kTiles][2];
  OPCAST_UNROLL
  for (int m = 0; m < kTiles; ++m) {
    left[m][0] = op.Left(row + 16 * m + g, step, t);
    left[m][1] = op.Left(row + 16 * m + g + 8, step, t);
  }
  OPCAST_UNROLL
  for (int n = 0; n < kParts; ++n) {
    const Piece<Op::kPairs> right = op.Numbers(codes[n], op.ZeroOf(column + 8 * n + g, unit));
    OPCAST_UNROLL
    for (int m = 0; m < kTiles; ++m)
      AddPieces<typename Op::Number>(sums[m][n], left[m][0], left[m][1], right);
  }
}

// The totals of a warp, whose first row and column are these, over units `begin` to `end`. What is
// read of b is on its way while the step before is computed.
template <int kTiles, int kParts, class Op>
OPCAST_DEVICE void SumUnits(const Op& op, int64_t row, int64_t column, int64_t begin, int64_t end,
                            StreamedSums<kTiles, kParts>& totals) {
  if (begin >= end) return;
  const int g = opcast::Lane() / 4, t = opcast::Lane() % 4;
  StreamedSums<kTiles, kParts> sums = {};
  typename Op::Codes next[kParts];
  OPCAST_UNROLL
  for (int n = 0; n < kParts; ++n) next[n] = op.Right(column + 8 * n + g, begin * op.steps, t);
  OPCAST_NO_UNROLL
  for (int64_t unit = begin; unit < end; ++unit) {
    const UnitFactors<kTiles, kParts> factors(op, row, column, unit);
    OPCAST_NO_UNROLL
    for (int64_t step = unit * op.steps; step < (unit + 1) * op.steps; ++step) {
      typename Op::Codes codes[kParts];
      const int64_t after = step + 1 < end * op.steps ? step + 1 : step;
      OPCAST_UNROLL
      for (int n = 0; n < kParts; ++n) {
        codes[n] = next[n];
        next[n] = op.Right(column + 8 * n + g, after, t);
      }
      AddStep<kTiles, kParts>(op, row, column, step, unit, codes, sums);
    }
    factors.EndUnit(sums, totals);
  }
}

template <class Op, int kTiles, int kParts>
__global__ void __launch_bounds__(kStreamThreads) StreamedProductKernel(Op op) {
  constexpr int kTileRows = 16 * kTiles, kColumns = 8 * kParts;
  float* const shared = opcast::DynamicShared<float>();  // [warps, rows, columns]
  const int warp = static_cast<int>(threadIdx.x) / 32, g = opcast::Lane() / 4,
            t = opcast::Lane() % 4;
  const int64_t row = int64_t{blockIdx.y} * kTileRows, column = int64_t{blockIdx.x} * kColumns;
  StreamedSums<kTiles, kParts> totals = {};
  SumUnits<kTiles, kParts>(op, row, column, warp * op.units / kStreamWarps,
                           (warp + 1) * op.units / kStreamWarps, totals);
  OPCAST_UNROLL
  for (int m = 0; m < kTiles; ++m) {
    OPCAST_UNROLL
    for (int n = 0; n < kParts; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e)
        shared[(warp * kTileRows + 16 * m + g + e / 2 * 8) * kColumns + 8 * n + 2 * t + e % 2] =
            totals[m][n][e];
    }
  }
  __syncthreads();
  for (int at = static_cast<int>(threadIdx.x); at < kTileRows * kColumns; at += kStreamThreads) {
    float sum = 0;
    OPCAST_UNROLL
    for (int w = 0; w < kStreamWarps; ++w) sum += shared[w * kTileRows * kColumns + at];
    const int64_t i = row + at / kColumns, j = column + at % kColumns;
    if (i < op.a.rows && j < op.b.rows) op(i, j, sum);
  }
}

template <int kParts, class Op>
opcast::Status StreamParts(const opcast::Launch& launch, const Op& op) {
  const auto start = [&](auto kernel, int64_t rows) {
    const dim3 grid(static_cast<unsigned>((op.b.rows + 8 * kParts - 1) / (8 * kParts)),
                    static_cast<unsigned>((op.a.rows + rows - 1) / rows));
    const size_t shared = sizeof(float) * kStreamWarps * rows * 8 * kParts;
    return opcast::Start(kernel, grid, kStreamThreads, shared, launch, op);
  };
  if (op.a.rows <= 16) return start(StreamedProductKernel<Op, 1, kParts>, 16);
  return start(StreamedProductKernel<Op, Op::kTiles, kParts>, 16 * Op::kTiles);
}

// Rows of results are those of op.a, columns those of op.b; a block has so many of these: 16 or 32.
template <class Op>
opcast::Status StreamedProduct(const opcast::Launch& launch, const Op& op, int64_t columns) {
  return columns == 16 ? StreamParts<2>(launch, op) : StreamParts<4>(launch, op);
}

// Why rows cannot be read 16 bytes at a time; null if they can. grid.y has at most 65535 blocks.
inline const char* WhyNotStreamed(int64_t rows, std::initializer_list<const void*> pointers) {
  for (const void* p : pointers) {
    if (reinterpret_cast<uintptr_t>(p) % 16 != 0)
      return "arrays do not begin at multiples of 16 bytes";
  }
  return rows > 32 * 65535 ? "there are more than 2097120 rows" : nullptr;
}

}  // namespace opcast_ops
