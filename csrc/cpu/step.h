// Steps over a row of floats or of numbers of 16 bits, where none of the results is NaN.
//
// A step over bfloat16 takes two vectors, of the even and of the odd numbers. A pair of them is 32
// bits, of which each becomes a float by one instruction, while loading neighbours takes two.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "walk.h"

namespace opcast_ops {

template <int kWidth, class T>
struct Step {
  static constexpr bool kPairs = std::is_same_v<T, opcast::bf16>;
  static constexpr int kLanes = Lanes<kWidth>::kCount, kVectors = kPairs ? 2 : 1;
  static constexpr int64_t kCount = kVectors * kLanes;

  Lanes<kWidth> vectors[kVectors];

  void Load(const T* from) {
    if constexpr (kPairs) {
      uint32_t pairs[kLanes];
      std::memcpy(pairs, from, sizeof pairs);
      for (int j = 0; j < kLanes; ++j) {
        vectors[0].numbers[j] = opcast::detail::FromBits(pairs[j] << 16);
        vectors[1].numbers[j] = opcast::detail::FromBits(pairs[j] & 0xffff0000);
      }
    } else {
      vectors[0] = opcast_ops::Load<kWidth>(from);
    }
  }
  void Store(T* to) const {
    if constexpr (kPairs) {
      uint32_t pairs[kLanes];
      for (int j = 0; j < kLanes; ++j)
        pairs[j] =
            Rounded(vectors[0].numbers[j]) >> 16 | (Rounded(vectors[1].numbers[j]) & 0xffff0000);
      std::memcpy(to, pairs, sizeof pairs);
    } else {
      vectors[0].Store(to, NoNan());
    }
  }

  // What ForParts calls its body with: the last step is filled up with zeros.
  void Load(const T* from, std::integral_constant<int64_t, kCount>) { Load(from); }
  void Load(const T* from, int64_t count) {
    T all[kCount] = {};
    std::memcpy(all, from, static_cast<size_t>(count) * sizeof(T));
    Load(all);
  }
  void Store(T* to, std::integral_constant<int64_t, kCount>) const { Store(to); }
  void Store(T* to, int64_t count) const {
    T all[kCount];
    Store(all);
    std::memcpy(to, all, static_cast<size_t>(count) * sizeof(T));
  }

 private:
  // The upper half is the bfloat16 next to x, the even one of two.
  static uint32_t Rounded(float x) {
    const uint32_t bits = opcast::detail::Bits(x);
    return bits + 0x7fff + (bits >> 16 & 1);
  }
};

}  // namespace opcast_ops
