// Shape and strides of an input that need not be dense.
#pragma once

#include <cstdint>

namespace opcast {

// A view of a tensor's shape and strides, both in elements and `rank` long. The last `trailing`
// dimensions are those that the definition names; the ones before them are its "*".
struct Layout {
  int rank;
  const int64_t* shape;
  const int64_t* strides;
  int trailing;

  // Element offset of the i-th leading index, counted in row-major order.
  int64_t Batch(int64_t i) const {
    int64_t offset = 0;
    for (int d = rank - trailing - 1; d >= 0; --d) {
      offset += i % shape[d] * strides[d];
      i /= shape[d];
    }
    return offset;
  }

  // Stride of a dimension counted from the end: -1 is the last.
  int64_t Stride(int dim_from_end) const { return strides[rank + dim_from_end]; }
};

}  // namespace opcast
