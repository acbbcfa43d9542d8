// Rows of pairs, whose first and second numbers stand in turn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace opcast_ops {

// The pairs that are taken at a time. A row of their first numbers is followed by one of their
// second numbers.
constexpr int64_t kPairs = 256;

// Calls body(i, count) for the parts of n pairs, which begin at pair i.
template <class Body>
inline void ForPairs(int64_t n, Body body) {
  for (int64_t i = 0; i < n; i += kPairs) body(i, std::min(kPairs, n - i));
}

// Both numbers of a pair are one integer, which loops take apart and join with vectors.
template <class T>
struct PairBits {
  using Both = std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>;
  using One = std::conditional_t<sizeof(T) == 2, uint16_t, uint32_t>;
  static constexpr int kOne = 8 * sizeof(T);
};

template <class T>
inline void PartNeighbours(const T* pairs, int64_t count, T* rows) {
  using Bits = PairBits<T>;
  for (int64_t j = 0; j < count; ++j) {
    typename Bits::Both both;
    std::memcpy(&both, pairs + 2 * j, sizeof both);
    const auto first = static_cast<typename Bits::One>(both);
    const auto second = static_cast<typename Bits::One>(both >> Bits::kOne);
    std::memcpy(rows + j, &first, sizeof first);
    std::memcpy(rows + count + j, &second, sizeof second);
  }
}

template <class T>
inline void JoinNeighbours(const T* rows, int64_t count, T* pairs) {
  using Bits = PairBits<T>;
  for (int64_t j = 0; j < count; ++j) {
    typename Bits::One first, second;
    std::memcpy(&first, rows + j, sizeof first);
    std::memcpy(&second, rows + count + j, sizeof second);
    const auto both = static_cast<typename Bits::Both>(second) << Bits::kOne | first;
    std::memcpy(pairs + 2 * j, &both, sizeof both);
  }
}

}  // namespace opcast_ops
