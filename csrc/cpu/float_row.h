// Rows of 16-bit numbers as floats.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "scalar.h"

namespace opcast_ops {

// A row as floats: the row itself where it has floats, otherwise a copy. Kernels that go over a row
// more than once convert it once, and their loops over floats vectorise better.
template <class T>
class FloatRow {
 public:
  explicit FloatRow(int64_t n) : n_(n), space_(kCopies ? new float[n] : nullptr) {}

  // The row's numbers, until the next call.
  const float* Read(const T* row) {
    if constexpr (kCopies) {
      for (int64_t j = 0; j < n_; ++j) space_[j] = static_cast<float>(row[j]);
      return space_.get();
    } else {
      return row;
    }
  }

  // Where to put the numbers of a row; Wrote(row) must follow.
  float* Write(T* row) {
    if constexpr (kCopies)
      return space_.get();
    else
      return row;
  }
  void Wrote(T* row) {
    if constexpr (kCopies) {
      for (int64_t j = 0; j < n_; ++j) row[j] = static_cast<T>(space_[j]);
    }
  }

 private:
  static constexpr bool kCopies = !std::is_same_v<T, float>;

  const int64_t n_;
  const std::unique_ptr<float[]> space_;
};

}  // namespace opcast_ops
