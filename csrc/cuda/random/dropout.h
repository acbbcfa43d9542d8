// What dropout does to numbers, and to their gradients: a thread takes eight at a time, whose bits
// are a byte.
#pragma once

#include <cstdint>

#include "common/dropout.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kDropThreads = 256, kDropEach = 8;

inline int64_t DropTiles(int64_t n) {
  return (n + kDropEach * kDropThreads - 1) / (kDropEach * kDropThreads);
}

// to[i] = x[i] * scale where bit i says so, else 0, for the n numbers that are left.
template <class T>
OPCAST_DEVICE void Keep(uint32_t bits, float scale, int64_t n, bool aligned, const T* x, T* to) {
  constexpr int kVectors = kDropEach / Vector<T>::kSize;
  if (scale == 0) bits = 0;  // p is 1: not even what is infinite has a product
  Vector<T> vectors[kVectors];
  const bool whole = aligned && n >= kDropEach;
  OPCAST_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const T* const from = x + v * Vector<T>::kSize;
    if (whole) vectors[v] = *reinterpret_cast<const Vector<T>*>(from);
    OPCAST_UNROLL
    for (int e = 0; e < Vector<T>::kSize; ++e) {
      const int i = v * Vector<T>::kSize + e;
      if (!whole) vectors[v].at[e] = i < n ? from[e] : static_cast<T>(0.0f);
      const float scaled = static_cast<float>(vectors[v].at[e]) * scale;
      vectors[v].at[e] = static_cast<T>((bits >> i & 1) != 0 ? scaled : 0.0f);
      if (!whole && i < n) to[i] = vectors[v].at[e];
    }
    if (whole) *reinterpret_cast<Vector<T>*>(to + v * Vector<T>::kSize) = vectors[v];
  }
}

}  // namespace opcast_ops
