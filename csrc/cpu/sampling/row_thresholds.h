// Where the largest numbers of a row end: those that are so many, or that add up to so much.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "cpu/lib/map_elements.h"

namespace opcast_ops {

constexpr int kDigits[] = {21, 10, 0};  // where digits of a key begin
constexpr uint32_t kMostValues = 1 << 11;

// The largest of the keys key(0), ..., key(n - 1) such that those that are not below it weigh
// `goal` or more; the smallest one if that is too much. Keys of 0 do not count; 0 if none counts.
// It is found digit by digit, by how much each next digit weighs.
template <class Key, class Weight>
inline uint32_t KeyAtWeight(int64_t n, Key key, Weight weight, double goal) {
  uint64_t found = 0;
  int known = 32;
  double above = 0;
  for (const int digit : kDigits) {
    double values[kMostValues] = {};
    const uint32_t mask = (uint32_t{1} << (known - digit)) - 1;
    for (int64_t i = 0; i < n; ++i) {
      const uint64_t own = key(i);
      if (own != 0 && own >> known == found) values[own >> digit & mask] += weight(i);
    }
    uint32_t lowest = 0;
    for (uint32_t value = mask + 1; value-- > 0;) {
      if (values[value] == 0) continue;
      lowest = value;
      if (above + values[value] >= goal) break;
      above += values[value];
    }
    found = found << (known - digit) | lowest;
    known = digit;
  }
  return static_cast<uint32_t>(found);
}

constexpr int64_t kFew = 1024;  // numbers that FewLargest finds, at most
constexpr int64_t kStep = 64;   // numbers that are compared at once

// Calls body(i) for the places of a row where larger(x[i]).
template <int kWidth, class T, class Larger, class Body>
inline void ForLarger(const T* x, int64_t n, Larger larger, Body body) {
  const auto is_not = [&larger](float number) { return !larger(number); };
  for (int64_t i = 0; i < n; i += kStep) {
    const int64_t count = std::min(kStep, n - i);
    if (AllOf<kWidth>(count, is_not, x + i)) continue;
    for (int64_t j = i; j < i + count; ++j) {
      if (larger(static_cast<float>(x[j]))) body(j);
    }
  }
}

// The last of the `goal` largest numbers of a row, kFew at most; `lowest` if fewer are above that.
// The row is gone over once, as in topk.cc.
template <int kWidth, class T>
inline float FewLargest(const T* x, int64_t n, int64_t goal, float lowest) {
  float best[2 * kFew + kStep];
  float bound = lowest;
  int64_t count = 0;
  const auto cut = [&best, &bound, &count, goal] {
    std::nth_element(best, best + goal - 1, best + count, std::greater<>());
    count = goal;
    bound = best[goal - 1];
  };
  ForLarger<kWidth>(
      x, n, [&bound](float number) { return number > bound; },
      [&](int64_t i) {
        best[count++] = static_cast<float>(x[i]);
        if (count == goal + kFew) cut();
      });
  if (count >= goal) cut();
  return bound;
}

}  // namespace opcast_ops
