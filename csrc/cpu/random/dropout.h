// What dropout does to numbers, and to their gradients.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/dropout.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/vector_lanes.h"

namespace opcast_ops {

// A chunk's numbers begin with a byte of bits.
constexpr int64_t kDropChunk = kChunk / 4;

// to[i] = x[i] * scale where bit i says so, else 0, for n numbers.
template <int kWidth, class T>
inline void Keep(uint64_t bits, float scale, int64_t n, const T* x, T* to) {
  constexpr int kLanes = Lanes<kWidth>::kCount;
  if (scale == 0) bits = 0;  // p is 1: not even what is infinite has a product
  for (int64_t i = 0; i < n; i += kLanes, bits >>= kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, n - i);
    const auto own = static_cast<uint32_t>(bits);
    auto lanes = LoadSome<kWidth>(x + i, count);
#pragma GCC unroll 1
    for (int j = 0; j < kLanes; ++j)
      lanes.numbers[j] = Select((own >> j & 1) != 0, lanes.numbers[j] * scale, 0.0f);
    lanes.StoreSome(to + i, count);
  }
}

// Calls step(i, n) for n numbers at a time, from number i on: for kWidth of them, which are four
// vectors of floats, or fewer at the end.
template <int kWidth, class Step>
inline void ForBits(int64_t begin, int64_t end, Step step) {
  int64_t i = begin;
  for (; i + kWidth <= end; i += kWidth) step(i, std::integral_constant<int64_t, kWidth>());
  if (i < end) step(i, end - i);
}

// Bits are copied from and to integers, whose lower bytes come first.
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);

inline size_t BytesOfBits(int64_t bits) { return static_cast<size_t>((bits + 7) / 8); }

}  // namespace opcast_ops
