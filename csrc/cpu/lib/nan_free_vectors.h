// Steps over a row of floats or of numbers of 16 bits, where none of the results is NaN.
//
// A step over 16 bits takes two vectors, so that a whole vector is stored. Those of bfloat16 are of
// the even and of the odd numbers: a pair of them is 32 bits, of which each becomes a float by one
// instruction, while loading neighbours takes two.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cpu/lib/streaming_stores.h"
#include "cpu/lib/vector_loops.h"

namespace opcast_ops {

template <int kWidth, class T, int kVectors_ = sizeof(T) == 2 ? 2 : 1>
struct Step {
  static constexpr bool kPairs = std::is_same_v<T, opcast::bf16>;
  static constexpr int kLanes = Lanes<kWidth>::kCount, kVectors = kVectors_;
  static constexpr int64_t kCount = kVectors * kLanes;

  Lanes<kWidth> vectors[kVectors];

  void Load(const T* from) {
    if constexpr (kPairs) {
      Pairs pairs;
      std::memcpy(&pairs, from, sizeof pairs);
      const Pairs even = pairs << 16, odd = pairs & kUpper;
      std::memcpy(vectors[0].numbers, &even, sizeof even);
      std::memcpy(vectors[1].numbers, &odd, sizeof odd);
    } else {
      for (int v = 0; v < kVectors; ++v) vectors[v] = opcast_ops::Load<kWidth>(from + v * kLanes);
    }
  }
  void Store(T* to) const {
    if constexpr (kPairs) {
      Pairs even, odd;
      std::memcpy(&even, vectors[0].numbers, sizeof even);
      std::memcpy(&odd, vectors[1].numbers, sizeof odd);
      Round(&even), Round(&odd);
      even = even >> 16 | (odd & kUpper);
      std::memcpy(to, &even, sizeof even);
    } else {
      for (int v = 0; v < kVectors; ++v) vectors[v].Store(to + v * kLanes, NoNan());
    }
  }
  // The same past the cache, to a place that is a multiple of its bytes: see streaming_stores.h.
  void Stream(T* to) const {
    if constexpr (kPairs) {
      alignas(64) T all[kCount];
      Store(all);
      StreamAll(all, to);
    } else {
      for (int v = 0; v < kVectors; ++v) opcast_ops::Stream(vectors[v], to + v * kLanes, NoNan());
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
  typedef uint32_t Pairs __attribute__((vector_size(kWidth)));
  static constexpr uint32_t kUpper = 0xffff0000;

  // The upper halves are then the bfloat16 next to floats, the even one of two.
  static void Round(Pairs* floats) { *floats += 0x7fff + (*floats >> 16 & 1); }
};

}  // namespace opcast_ops
