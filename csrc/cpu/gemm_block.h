// Blocks of gemm's matrices: what the product and its gradients share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "gate.h"
#include "gemm_tile.h"
#include "opcast/kernel.h"
#include "rows.h"

namespace opcast_ops {

constexpr int64_t kBlock = 64;  // rows and columns of a result that one task computes
constexpr int64_t kDepth =
    256;  // products summed in one pass: such a part of both factors' blocks fits into the L2 cache

constexpr int64_t kProductsPerChunk = 1 << 19;  // some 10 microseconds of work

inline int64_t Blocks(int64_t n) { return (n + kBlock - 1) / kBlock; }

// How many blocks of such a product make up a chunk of work.
inline int64_t BlocksPerChunk(int64_t rows, int64_t columns, int64_t depth) {
  const int64_t products =
      std::min(kBlock, rows) * std::min(kBlock, columns) * std::max<int64_t>(1, depth);
  return std::max<int64_t>(1, kProductsPerChunk / std::max<int64_t>(1, products));
}

// The dtypes that Copy, Load and Store know.
template <class T>
constexpr bool kKnown =
    std::is_same_v<T, float> || std::is_same_v<T, opcast::f16> || std::is_same_v<T, opcast::bf16>;

template <class T>
inline void Widen(const T* from, int64_t stride, int64_t rows, int64_t columns, float* to,
                  int64_t to_stride) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j)
      to[i * to_stride + j] = static_cast<float>(from[i * stride + j]);
  }
}

// Copies rows as floats.
inline void Copy(opcast::DType type, const void* data, int64_t offset, int64_t stride, int64_t rows,
                 int64_t columns, float* to, int64_t to_stride) {
  if (type == opcast::DType::kF32)
    return Widen(static_cast<const float*>(data) + offset, stride, rows, columns, to, to_stride);
  if (type == opcast::DType::kF16)
    return Widen(static_cast<const opcast::f16*>(data) + offset, stride, rows, columns, to,
                 to_stride);
  return Widen(static_cast<const opcast::bf16*>(data) + offset, stride, rows, columns, to,
               to_stride);
}

// Makes the columns of such a copy from `columns` to kBlock zero; its rows are kBlock apart.
inline void ClearRest(float* to, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    std::fill(to + i * kBlock + columns, to + (i + 1) * kBlock, 0.0f);
}

// Rows as floats: themselves, or a copy in `space`, which has room for kDepth columns.
inline FloatRows Load(opcast::DType type, const void* data, int64_t offset, int64_t stride,
                      int64_t rows, int64_t columns, float* space) {
  if (type == opcast::DType::kF32) return {static_cast<const float*>(data) + offset, stride};
  Copy(type, data, offset, stride, rows, columns, space, kDepth);
  return {space, kDepth};
}

template <class T>
inline void Narrow(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = Round<T>(from[i]);
}

// Rounds values to the dtype.
inline void Store(opcast::DType type, const double* values, int64_t n, void* data, int64_t offset) {
  if (type == opcast::DType::kF32) return Narrow(values, n, static_cast<float*>(data) + offset);
  if (type == opcast::DType::kF16)
    return Narrow(values, n, static_cast<opcast::f16*>(data) + offset);
  return Narrow(values, n, static_cast<opcast::bf16*>(data) + offset);
}

// The rows of matrices [*, M, K], counted through all of them.
struct BatchRows {
  opcast::DType type;
  const void* data;
  const opcast::Layout& layout;
  int64_t per_matrix;

  // Element offset of a row.
  int64_t Offset(int64_t row) const {
    return layout.Batch(row / per_matrix) + row % per_matrix * layout.Stride(-2);
  }

  // Copies columns k to k + depth of rows as floats.
  void Copy(int64_t row, int64_t rows, int64_t k, int64_t depth, float* to,
            int64_t to_stride) const {
    while (rows > 0) {
      const int64_t run = std::min(rows, per_matrix - row % per_matrix);
      opcast_ops::Copy(type, data, Offset(row) + k, layout.Stride(-2), run, depth, to, to_stride);
      row += run;
      rows -= run;
      to += run * to_stride;
    }
  }

  // The same as floats: themselves, or a copy in `space`, which has room for kDepth columns.
  FloatRows Load(int64_t row, int64_t rows, int64_t k, int64_t depth, float* space) const {
    if (row % per_matrix + rows <= per_matrix)
      return opcast_ops::Load(type, data, Offset(row) + k, layout.Stride(-2), rows, depth, space);
    Copy(row, rows, k, depth, space, kDepth);
    return {space, kDepth};
  }
};

// A block of a matrix: rows i to i + rows, columns j to j + columns.
struct Block {
  int64_t i, rows, j, columns;

  // The index-th block of a matrix, counted along its rows.
  Block(int64_t index, int64_t height, int64_t width)
      : i(index / Blocks(width) * kBlock),
        rows(std::min(kBlock, height - i)),
        j(index % Blocks(width) * kBlock),
        columns(std::min(kBlock, width - j)) {}
};

// Adds the products of the block's rows of a with its rows of b to sums; Args has a and b as gemm.
template <int kWidth, class Args>
inline void Multiply(const Args& args, const Block& block, float (*sums)[kBlock]) {
  using Shape = TileShape<kWidth>;
  float a_space[kBlock * kDepth], b_space[kBlock * kDepth];
  const BatchRows a_rows{args.T, args.a, args.a_layout, args.M};
  const int64_t b_stride = args.b_layout.Stride(-2);
  for (int64_t k = 0; k < args.K; k += kDepth) {
    const int64_t depth = std::min(kDepth, args.K - k);
    const FloatRows a = a_rows.Load(block.i, block.rows, k, depth, a_space);
    const FloatRows b =
        Load(args.T, args.b, block.j * b_stride + k, b_stride, block.columns, depth, b_space);
    for (int64_t j = 0; j < block.columns; j += Shape::kN) {
      for (int64_t i = 0; i < block.rows; i += Shape::kM) {
        AddTile<kWidth>({a.data + i * a.stride, a.stride}, block.rows - i,
                        {b.data + j * b.stride, b.stride}, block.columns - j, depth, &sums[i][j],
                        kBlock);
      }
    }
  }
}

// Adds the product of a block's factors, rows by depth and depth by columns, to sums; b's rows are
// kBlock apart, and zero from `columns` on.
template <int kWidth>
inline void AddOuter(FloatMatrix a, const float* b, int64_t rows, int64_t columns, int64_t depth,
                     float (*sums)[kBlock]) {
  using Shape = OuterShape<kWidth>;
  for (int64_t i = 0; i < rows; i += Shape::kM) {
    for (int64_t j = 0; j < columns; j += Shape::kColumns) {
      AddOuterTile<kWidth>({a.data + i * a.row, a.row, a.column}, rows - i, {b + j, kBlock}, depth,
                           &sums[i][j], kBlock);
    }
  }
}

// values[j] = alpha * sums[j] + bias[j] for the block's columns: what the activation is applied to.
template <class Args>
inline void Combine(const Args& args, const Block& block, const float* sums, const float* bias,
                    double* values) {
  for (int64_t j = 0; j < block.columns; ++j) values[j] = args.alpha * sums[j] + bias[j];
}

// Applies gemm's activation; an enum of each op's own.
template <int kWidth, class Activation>
inline void Activate(Activation activation, double* values, int64_t n) {
  if (activation == Activation::kRelu) {
    for (int64_t i = 0; i < n; ++i) values[i] = values[i] < 0 ? 0 : values[i];
  } else if (activation == Activation::kSilu) {
    for (int64_t i = 0; i < n; ++i) values[i] *= Sigmoid<kWidth>(values[i]);
  }
}

// The bias of the block's columns as floats, zeros if there is none; `space` holds kDepth zeros.
template <class Args>
inline const float* LoadBias(const Args& args, const Block& block, float* space) {
  if (args.bias == nullptr) return space;
  return Load(args.T, args.bias, block.j, 0, 1, block.columns, space).data;
}

}  // namespace opcast_ops
