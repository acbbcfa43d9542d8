// The leading dimensions of an array with strides, as a GPU kernel takes them: a Layout points to
// memory of the CPU.
#pragma once

#include <cstdint>

#include "opcast/layout.h"
#include "opcast/minifloat.h"

namespace opcast {

// Element offsets of the leading indices, as Layout::Batch gives them. Dimensions of one element
// are left out and those that lie one after the other are joined: rows with one distance between
// them are a single dimension.
class BatchOffsets {
 public:
  explicit BatchOffsets(const Layout& layout) {
    for (int d = layout.rank - layout.trailing - 1; d >= 0; --d) {
      const int64_t size = layout.shape[d], stride = layout.strides[d];
      if (size == 1) continue;
      if (rank_ > 0 && stride == strides_[rank_ - 1] * sizes_[rank_ - 1]) {
        sizes_[rank_ - 1] *= size;
      } else if (rank_ < kMostDims) {
        sizes_[rank_] = size;
        strides_[rank_++] = stride;
      }
    }
  }

  OPCAST_HOST_DEVICE int64_t operator()(int64_t i) const {
    int64_t offset = 0;
    for (int d = 0; d + 1 < rank_; ++d) {
      offset += i % sizes_[d] * strides_[d];
      i /= sizes_[d];
    }
    return rank_ > 0 ? offset + i * strides_[rank_ - 1] : 0;
  }

  // Whether all offsets are multiples of n.
  bool DivisibleBy(int64_t n) const {
    for (int d = 0; d < rank_; ++d) {
      if (strides_[d] % n != 0) return false;
    }
    return true;
  }

 private:
  // Each has at least two elements, so that more would not fit into any memory.
  static constexpr int kMostDims = 40;

  int rank_ = 0;
  int64_t sizes_[kMostDims] = {};  // last dimension first
  int64_t strides_[kMostDims] = {};
};

}  // namespace opcast
