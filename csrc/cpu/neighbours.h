// Rows of pairs, whose first and second numbers stand in turn.
#pragma once

#include <algorithm>
#include <cstdint>

namespace opcast_ops {

// The pairs that are taken at a time. A row of their first numbers is followed by one of their
// second numbers.
constexpr int64_t kPairs = 256;

// Calls body(i, count) for the parts of n pairs, which begin at pair i.
template <class Body>
inline void ForPairs(int64_t n, Body body) {
  for (int64_t i = 0; i < n; i += kPairs) body(i, std::min(kPairs, n - i));
}

template <class T>
inline void PartNeighbours(const T* pairs, int64_t count, T* rows) {
  for (int64_t j = 0; j < count; ++j) rows[j] = pairs[2 * j], rows[count + j] = pairs[2 * j + 1];
}

template <class T>
inline void JoinNeighbours(const T* rows, int64_t count, T* pairs) {
  for (int64_t j = 0; j < count; ++j) pairs[2 * j] = rows[j], pairs[2 * j + 1] = rows[count + j];
}

}  // namespace opcast_ops
