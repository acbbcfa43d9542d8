// NVFP4: groups of 16 numbers of 4 bits with a scale of 8.
#pragma once

#include <algorithm>
#include <cmath>

#include "numbers.h"

namespace inference_ops {

// Quantises a group after multiplying it by a factor; returns its scale.
template <class T>
opcast::f8e4m3fn QuantizeGroup(const T* x, double factor, uint8_t* q) {
  double largest = 0;
  bool nan = false;
  for (int i = 0; i < 16; ++i) {
    const double v = Widen(x[i]) * factor;
    nan = nan || std::isnan(v);
    largest = std::max(largest, std::fabs(v));
  }
  const opcast::f8e4m3fn scale(nan ? NAN : static_cast<float>(std::min(largest / 6, 448.0)));
  Pack(q, 8, [x, factor, divisor = static_cast<double>(scale)](int64_t i) {
    const double v = divisor == 0 ? 0 : Widen(x[i]) * factor / divisor;
    return opcast::f4e2m1fn(static_cast<float>(v)).bits;
  });
  return scale;
}

// The scales of the groups of a matrix: row by row or, if swizzled, in tiles of 128 rows and four
// groups, which hold the rows r, r + 32, r + 64 and r + 96 side by side.
struct Scales {
  bool swizzled;
  int64_t groups;  // in a row

  int64_t At(int64_t row, int64_t group) const {
    if (!swizzled) return row * groups + group;
    const int64_t tile = row / 128 * ((groups + 3) / 4) + group / 4;
    return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4;
  }
};

}  // namespace inference_ops
