// The arrays of ops as the column-major matrices of cuBLASLt.
#pragma once

#include <cstdint>

#include "cuda/matmul/cublaslt.h"

namespace opcast_ops::cublaslt {

inline Type TypeOf(opcast::DType t) {
  return t == opcast::DType::kF32 ? kF32 : t == opcast::DType::kF16 ? kF16 : kBf16;
}

// Rows of equal distances, as often as there are matrices at equal distances.
struct EqualRows {
  int64_t batch = 1, stride = 0;
  int64_t rows = 1, ld = 0;
};

// Whether the rows of an array [*, M, K], M of them or those of all leading dims together, lie so.
// A row alone is as far from the next as it is long.
inline bool FindEqualRows(const opcast::Layout& layout, EqualRows* to) {
  struct {
    int64_t size, stride;
  } runs[2] = {};
  int count = 0;
  for (int d = layout.rank - 2; d >= 0; --d) {
    const int64_t size = layout.shape[d], stride = layout.strides[d];
    if (size == 1) continue;
    if (count > 0 && stride == runs[count - 1].size * runs[count - 1].stride) {
      runs[count - 1].size *= size;
    } else if (count == 2) {
      return false;
    } else {
      runs[count++] = {size, stride};
    }
  }
  *to = {};
  to->ld = layout.shape[layout.rank - 1];
  if (count > 0) {
    to->rows = runs[0].size;
    to->ld = runs[0].stride;
  }
  if (count > 1) {
    to->batch = runs[1].size;
    to->stride = runs[1].stride;
  }
  return to->stride >= 0;
}

// A matrix whose columns are these rows of so many elements.
inline Matrix MatrixOf(Type type, int64_t length, const EqualRows& at) {
  return {type, length, at.rows, at.ld, at.stride};
}

// Of a dense array.
inline Matrix DenseMatrix(Type type, int64_t length, int64_t rows) {
  return {type, length, rows, length, rows * length};
}

// The same with rows and columns exchanged as a factor.
inline Matrix Transposed(Matrix m) {
  m.transposed = !m.transposed;
  return m;
}

}  // namespace opcast_ops::cublaslt
