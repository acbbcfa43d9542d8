// Copies of parts of an image's rows, with zeros for what lies beside the image.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/lib/float_conversion.h"

namespace opcast_ops {

// Copies elements `at`, at + step, ... of a row of n, zeros where there are none. Places of
// elements that are not asked for may not fit in 64 bits.
template <class T, class Step>
inline void CopyEach(const T* row, int64_t n, int64_t at, Step step, int64_t count, T* to) {
  const int64_t first = at >= 0 ? 0 : std::min(count, (-at - 1) / step + 1);
  const int64_t last = at >= n ? first : std::max(first, std::min(count, (n - 1 - at) / step + 1));
  std::fill(to, to + first, T());
  for (int64_t i = first; i < last; ++i) to[i] = row[at + i * step];
  std::fill(to + last, to + count, T());
}

#if defined(__x86_64__)
// Vectors of numbers of kBytes each, loaded where there is one.
template <int kBytes>
struct RowVector;

template <>
struct RowVector<4> {
  static constexpr int64_t kCount = 16;

  __attribute__((target(OPCAST_AVX512))) static __m512i Load(const void* from, uint32_t mask) {
    return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
  }
  // The numbers at even places of both.
  __attribute__((target(OPCAST_AVX512))) static __m512i Even(const __m512i& x, const __m512i& y) {
    const __m512i places =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_maskz_permutex2var_epi32(0xffff, x, places, y);
  }
};

template <>
struct RowVector<2> {
  static constexpr int64_t kCount = 32;

  __attribute__((target(OPCAST_AVX512))) static __m512i Load(const void* from, uint32_t mask) {
    return _mm512_maskz_loadu_epi16(mask, from);
  }
  __attribute__((target(OPCAST_AVX512))) static __m512i Even(const __m512i& x, const __m512i& y) {
    const __m512i places =
        _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                         24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return _mm512_maskz_permutex2var_epi16(0xffffffff, x, places, y);
  }
};

// Loads elements of a row of n from `at` on, zeros where there are none.
template <class Vectors, class T>
__attribute__((target(OPCAST_AVX512))) inline __m512i LoadPart(const T* row, int64_t n,
                                                               int64_t at) {
  const int64_t first = std::clamp<int64_t>(-at, 0, Vectors::kCount);
  const int64_t last = std::clamp<int64_t>(n - at, first, Vectors::kCount);
  const uint64_t mask = (uint64_t{1} << last) - (uint64_t{1} << first);
  return Vectors::Load(row + at, static_cast<uint32_t>(mask));
}

// The same as CopyEach for a step of 1 or 2, in whole vectors: there must be room for the last one.
template <int64_t kStep, class T>
__attribute__((target(OPCAST_AVX512))) inline void CopyVectors(const T* row, int64_t n, int64_t at,
                                                               int64_t count, T* to) {
  using Vectors = RowVector<sizeof(T)>;
  constexpr int64_t kCount = Vectors::kCount;
  for (int64_t i = 0; i < count; i += kCount, at += kStep * kCount) {
    __m512i numbers = LoadPart<Vectors>(row, n, at);
    if constexpr (kStep == 2)
      numbers = Vectors::Even(numbers, LoadPart<Vectors>(row, n, at + kCount));
    _mm512_storeu_si512(to + i, numbers);
  }
}
#endif

// Copies as CopyEach does, on machines whose vectors have kWidth bytes. There must be room for 32
// elements behind the last.
template <int kWidth, class T>
inline void CopyRow(const T* row, int64_t n, int64_t at, int64_t step, int64_t count, T* to) {
#if defined(__x86_64__)
  constexpr int64_t kFar = int64_t{1} << 48;  // beyond which places might leave 64 bits
  if constexpr (kWidth == 64) {
    if (step <= 2 && at > -kFar && at < kFar) {
      if (step == 1) return CopyVectors<1>(row, n, at, count, to);
      return CopyVectors<2>(row, n, at, count, to);
    }
  }
#endif
  // Compilers know what to do with constant steps.
  using std::integral_constant;
  if (step == 1) return CopyEach(row, n, at, integral_constant<int64_t, 1>(), count, to);
  if (step == 2) return CopyEach(row, n, at, integral_constant<int64_t, 2>(), count, to);
  CopyEach(row, n, at, step, count, to);
}

}  // namespace opcast_ops
