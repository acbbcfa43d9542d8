// What the GPU kernels of gemm and of its gradients share.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

// Offsets of rows that lie evenly.
struct EvenRows {
  int64_t stride;
  OPCAST_DEVICE int64_t operator()(int64_t row) const { return row * stride; }
  bool DivisibleBy(int64_t n) const { return stride % n == 0; }
};

// Offsets of the rows of matrices [*, M, K], counted through all of them.
inline opcast::BatchOffsets RowsOf(opcast::Layout layout) {
  layout.trailing = 1;
  return opcast::BatchOffsets(layout);
}

// Rows of numbers side by side, as a factor of a product (see gemm_float_tile.h).
template <class T, class Offsets>
struct RowFactor {
  static constexpr bool kAlongDepth = true;
  const T* data;
  int64_t rows;
  Offsets offsets;

  OPCAST_DEVICE const T* At(int64_t, int64_t i) const {
    return i < rows ? data + offsets(i) : nullptr;
  }
  OPCAST_DEVICE float Term(const T* row, int64_t k) const {
    return row == nullptr ? 0.0f : static_cast<float>(row[k]);
  }
};

// The columns of such rows as a factor: its row i is column i.
template <class T, class Offsets>
struct ColumnFactor {
  static constexpr bool kAlongDepth = false;
  const T* data;
  int64_t rows;  // of the factor: as many as columns in memory
  Offsets offsets;

  OPCAST_DEVICE const T* At(int64_t, int64_t i) const { return i < rows ? data + i : nullptr; }
  OPCAST_DEVICE float Term(const T* column, int64_t k) const {
    return column == nullptr ? 0.0f : static_cast<float>(column[offsets(k)]);
  }
};

// The factors of gemm; Args has a and b as GemmTyped has.
template <class Args, class T = typename Args::T>
RowFactor<T, opcast::BatchOffsets> LeftOf(const Args& args) {
  return {args.a, args.batch * args.M, RowsOf(args.a_layout)};
}
template <class Args, class T = typename Args::T>
RowFactor<T, EvenRows> RightOf(const Args& args) {
  return {args.b, args.N, {args.b_layout.Stride(-2)}};
}

// alpha * sum + bias[column], what the activation is applied to.
template <class T>
struct Affine {
  double alpha;
  const T* bias;  // or null

  OPCAST_DEVICE double operator()(int64_t column, float sum) const {
    const double value = alpha * sum;
    return bias == nullptr ? value : value + static_cast<double>(static_cast<float>(bias[column]));
  }
};

}  // namespace opcast_ops
