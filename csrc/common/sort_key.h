// Floats as integers of the same order, so that sorting needs no case for NaN and zeros.
#pragma once

#include <cstdint>

#include "opcast/minifloat.h"

namespace opcast_ops {

// A larger key means a larger number; -0 comes before 0, and all NaN are one, above infinity. No
// key is the largest or the smallest integer.
OPCAST_HOST_DEVICE inline int32_t SortKey(float x) {
  namespace bits = opcast::detail;
  const uint32_t number = bits::Select(x == x, bits::Bits(x), bits::kQuietNan);
  return static_cast<int32_t>(number ^ bits::Select(number >> 31 != 0, 0x7fffffff, 0));
}

// The number of a key.
OPCAST_HOST_DEVICE inline float OfSortKey(int32_t key) {
  namespace bits = opcast::detail;
  const auto number = static_cast<uint32_t>(key);
  return bits::FromBits(number ^ bits::Select(key < 0, 0x7fffffff, 0));
}

// What turns keys of an ascending order into those of a descending one, and back, by `^`.
OPCAST_HOST_DEVICE inline int32_t SortFlip(bool descending) { return descending ? -1 : 0; }

// A number and its column as one integer, the larger the earlier it comes among the largest or the
// smallest numbers. Zeros are equal; of equal numbers, that with the lower column comes first.
OPCAST_HOST_DEVICE inline uint32_t RankKey(float x, bool largest) {
  return static_cast<uint32_t>(SortKey(x + 0.0f) ^ SortFlip(!largest)) ^ 0x80000000;
}
// The number of a key of the largest.
OPCAST_HOST_DEVICE inline float OfRankKey(uint32_t key) {
  return OfSortKey(static_cast<int32_t>(key ^ 0x80000000));
}
OPCAST_HOST_DEVICE inline uint64_t Rank(uint32_t key, int64_t column) {
  return uint64_t{key} << 32 | (0xffffffff - static_cast<uint64_t>(column));
}
OPCAST_HOST_DEVICE inline int64_t ColumnOf(uint64_t rank) {
  return static_cast<int64_t>(0xffffffff - (rank & 0xffffffff));
}

}  // namespace opcast_ops
