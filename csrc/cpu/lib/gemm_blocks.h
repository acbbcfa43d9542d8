// Products of matrices in blocks: what gemm, its gradients and convolutions are made of.
//
// sums[i][j] += the sum over k of a[i][k] * b[j][k]. Factors of any dtype are packed, a panel of
// the depth at a time, so that the inner kernels meet one kind of factor: floats, or pairs of
// bfloat16 where both factors are bfloat16 and the machine has instructions for them. Where b lies
// along the depth, so must a, and a panel's terms go to lanes, which are added pairwise
// (gemm_tile.h); where b lies across it or is turned, they are added in order
// (gemm_outer_product.h). Sums are float, panels are added one after the other. So bits depend on
// the values and the depth only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/lib/gemm_bf16_pairs.h"
#include "cpu/lib/gemm_packing.h"

namespace opcast_ops {

constexpr int64_t kBlockRows = 128, kBlockColumns = 256;  // of the result that one task computes
constexpr int64_t kPanel = 512;                           // places of the depth packed at a time

// Rows of a for which b is read as it lies in memory. Reading it takes the time then: there should
// be blocks for all threads, and in each long stretches of memory.
constexpr int64_t kFewRows = 16, kFewRowsBlocks = 32, kNarrowest = 64;
inline int64_t ColumnsForFewRows(int64_t columns) {
  constexpr int64_t kLine = 16;  // floats of the result that threads had better not share
  return std::clamp(columns / kFewRowsBlocks / kLine * kLine, kNarrowest, kBlockColumns);
}

constexpr int64_t kProductsPerChunk = 1 << 20;  // some 20 microseconds of work

// Whether factors of these dtypes are multiplied as pairs of bfloat16.
inline bool TakePairs(opcast::DType a, opcast::DType b) {
  return a == opcast::DType::kBf16 && b == opcast::DType::kBf16 && opcast::HasBf16Dot();
}

// The width of vectors that a body of ParallelFor gets.
template <int kWidth>
using Width = std::integral_constant<int, kWidth>;

// A block of a result: rows i to i + rows, columns j to j + columns.
struct Block {
  int64_t i, rows, j, columns;
  bool few = rows <= kFewRows;  // rows: b is read as it lies in memory
};

// How a result is cut: up to how many rows are few, and how many columns a block has where they are
// more, at most kBlockColumns.
struct Cut {
  int64_t few_rows = kFewRows, columns = kBlockColumns;
};

// A result cut into blocks, counted along its rows.
class Blocks {
 public:
  Blocks(int64_t rows, int64_t columns, int64_t depth, const Cut& cut = {})
      : rows_(rows),
        columns_(columns),
        depth_(depth),
        few_(cut.few_rows),
        width_(rows <= few_ ? ColumnsForFewRows(columns) : cut.columns) {}

  int64_t Depth() const { return depth_; }
  int64_t Count() const { return Down() * Across(); }
  int64_t Across() const { return (columns_ + width_ - 1) / width_; }

  // How many of them make up a chunk of work.
  int64_t PerChunk() const {
    const int64_t products = std::clamp(rows_, kFewRows, kBlockRows) * std::min(width_, columns_) *
                             std::max<int64_t>(1, depth_);
    return std::max<int64_t>(1, kProductsPerChunk / std::max<int64_t>(1, products));
  }

  Block At(int64_t index) const {
    const int64_t i = index / Across() * kBlockRows, j = index % Across() * width_;
    const int64_t rows = std::min(kBlockRows, rows_ - i);
    return {i, rows, j, std::min(width_, columns_ - j), rows <= few_};
  }

 private:
  int64_t Down() const { return (rows_ + kBlockRows - 1) / kBlockRows; }

  const int64_t rows_, columns_, depth_;
  const int64_t few_;
  const int64_t width_;  // columns of a block
};

// Memory for the products of one thread.
struct ProductSpace {
  static constexpr int64_t kSlab = 128;  // rows of b packed at a time: whole groups and squares

  alignas(64) float a[(kBlockRows + 4) * kPanel];
  alignas(64) float b[kSlab * kPanel];
  alignas(64) float sums[kBlockRows][kBlockColumns];
  // Of packed rows of a: see Weights.
  Exponent smallest_a[kBlockRows + 4];
  float enough_a[kBlockRows + 4];
};

// That of this thread, until it ends: fresh memory would cost more than many a product.
ProductSpace* SpaceOfThread();

// What follows is compiled once for each width of vectors.

// Adds the products of the block's rows of a and b to space->sums.
void Multiply(const Factor& a, const Factor& b, const Block& block, int64_t depth,
              ProductSpace* space, Width<16>);
void Multiply(const Factor& a, const Factor& b, const Block& block, int64_t depth,
              ProductSpace* space, Width<32>);
void Multiply(const Factor& a, const Factor& b, const Block& block, int64_t depth,
              ProductSpace* space, Width<64>);

// Reads n numbers of a dtype that a factor may have, from element `offset` on, as floats.
void Read(opcast::DType type, const void* from, int64_t offset, int64_t n, float* to, Width<16>);
void Read(opcast::DType type, const void* from, int64_t offset, int64_t n, float* to, Width<32>);
void Read(opcast::DType type, const void* from, int64_t offset, int64_t n, float* to, Width<64>);

// Rounds n numbers to such a dtype.
void Write(opcast::DType type, const float* from, int64_t n, void* to, int64_t offset, Width<16>);
void Write(opcast::DType type, const float* from, int64_t n, void* to, int64_t offset, Width<32>);
void Write(opcast::DType type, const float* from, int64_t n, void* to, int64_t offset, Width<64>);

using Sums = float[kBlockColumns];  // of a row of a block

inline void Clear(const Block& block, Sums* sums) {
  for (int64_t i = 0; i < block.rows; ++i) std::fill_n(sums[i], block.columns, 0.0f);
}

// Calls finish(block, sums, width) for each block of the product of two factors; begin(block, sums)
// says what the sums begin with.
template <class Begin, class Finish>
void ForBlocks(const opcast::Launch& launch, const Blocks& blocks, const Factor& a, const Factor& b,
               Begin begin, Finish finish) {
  opcast::ParallelFor(launch, blocks.Count(), blocks.PerChunk(),
                      [&](int64_t first, int64_t last, auto width) {
                        ProductSpace* const space = SpaceOfThread();
                        for (int64_t index = first; index < last; ++index) {
                          const Block block = blocks.At(index);
                          begin(block, space->sums);
                          Multiply(a, b, block, blocks.Depth(), space, width);
                          finish(block, space->sums, width);
                        }
                      });
}

}  // namespace opcast_ops
