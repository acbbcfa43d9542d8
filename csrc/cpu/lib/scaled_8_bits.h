// Scaled numbers of 8 bits, integers or four of them exponent, as floats.
#pragma once

#include "cpu/lib/float_conversion.h"

namespace opcast_ops {

// to[i] = from[i] as a float, which is exact, times scale.
template <class T>
inline void WidenScaledAll(const T* from, float scale, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]) * scale;
}

#if defined(__x86_64__)
// The exponent and mantissa of these formats, moved to their places in a float16, are a float16
// that is too small by a power of two, denormals included. Instructions make a float of it, without
// the delay that arithmetic on denormal floats has. The NaN are another number there, so a constant
// is added to them.
template <class T>
struct AsHalf;

// NaN has all bits but the sign, and keeps the sign.
template <>
struct AsHalf<opcast::f8e4m3fn> {
  static constexpr float kFactor = 256;
  static constexpr int16_t kMask = 0x3f80, kNan = 0x3f80, kToNan = 0x7e00 - 0x3f80;
};

// NaN has the sign only, and has none as a float.
template <>
struct AsHalf<opcast::f8e4m3fnuz> {
  static constexpr float kFactor = 128;
  static constexpr int16_t kMask = -1, kNan = -0x8000, kToNan = 0x7e00 - 0x8000;
};

constexpr int16_t kHalfBits = 0x3f80 - 0x8000;  // those that a number of 8 bits has as a float16

// The number of 8 bits that has these bits as a float16.
constexpr int8_t CodeOf(int16_t half) {
  return static_cast<int8_t>((half >> 7 & 0x7f) | (half >> 8 & 0x80));
}

// Sixteen numbers as float16 that lack the factor.
template <class T>
__attribute__((target(OPCAST_AVX2))) inline __m256i MoveToHalf(const T* from) {
  using Half = AsHalf<T>;
  const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256i moved = _mm256_slli_epi16(_mm256_cvtepi8_epi16(codes), 7);
  const __m256i half = _mm256_and_si256(moved, _mm256_set1_epi16(kHalfBits));
  const __m256i nan = _mm256_cmpeq_epi16(_mm256_and_si256(half, _mm256_set1_epi16(Half::kMask)),
                                         _mm256_set1_epi16(Half::kNan));
  return _mm256_add_epi16(half, _mm256_and_si256(nan, _mm256_set1_epi16(Half::kToNan)));
}

// Widens and scales sixteen numbers.
template <class T>
__attribute__((target(OPCAST_AVX512))) inline void WidenScaledBlock(const T* from, float scale,
                                                                    float* to, Wide<64>) {
  const __m512 lacking = _mm512_maskz_cvtph_ps(kAll, MoveToHalf(from));
  const __m512 exact = _mm512_mul_ps(lacking, _mm512_set1_ps(AsHalf<T>::kFactor));
  _mm512_storeu_ps(to, _mm512_mul_ps(exact, _mm512_set1_ps(scale)));
}

// Widens 32 numbers that are not NaN.
template <class T>
__attribute__((target(OPCAST_AVX512))) inline void WidenNumbers(const T* from, __m512* low,
                                                                __m512* high) {
  const __m128i* const codes = reinterpret_cast<const __m128i*>(from);
  const __m256i bits = _mm256_set1_epi16(kHalfBits);
  const __m256i first = _mm256_slli_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(codes)), 7);
  const __m256i second = _mm256_slli_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(codes + 1)), 7);
  const __m512 factor = _mm512_set1_ps(AsHalf<T>::kFactor);
  *low = _mm512_mul_ps(_mm512_maskz_cvtph_ps(kAll, _mm256_and_si256(first, bits)), factor);
  *high = _mm512_mul_ps(_mm512_maskz_cvtph_ps(kAll, _mm256_and_si256(second, bits)), factor);
}

// Whether there is a NaN among n numbers, a multiple of 64.
template <class T>
__attribute__((target(OPCAST_AVX512))) inline bool HasNan(const T* from, int64_t n) {
  constexpr int8_t kMask = CodeOf(AsHalf<T>::kMask), kNan = CodeOf(AsHalf<T>::kNan);
  __mmask64 none = ~__mmask64{0};
  for (int64_t i = 0; i < n; i += static_cast<int64_t>(sizeof(__m512i))) {
    const __m512i codes = _mm512_loadu_si512(from + i);
    none = _mm512_mask_cmpneq_epi8_mask(none, _mm512_and_si512(codes, _mm512_set1_epi8(kMask)),
                                        _mm512_set1_epi8(kNan));
  }
  return ~none != 0;
}

template <class T>
__attribute__((target(OPCAST_AVX2))) inline void WidenScaledBlock(const T* from, float scale,
                                                                  float* to, Wide<32>) {
  const __m256i half = MoveToHalf(from);
  const __m256 factor = _mm256_set1_ps(AsHalf<T>::kFactor), scales = _mm256_set1_ps(scale);
  const __m256 low = _mm256_cvtph_ps(_mm256_castsi256_si128(half));
  const __m256 high = _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1));
  _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_mul_ps(low, factor), scales));
  _mm256_storeu_ps(to + 8, _mm256_mul_ps(_mm256_mul_ps(high, factor), scales));
}
#endif

// to[i] = from[i] as a float, times scale: what WidenScaledAll does, with instructions of machines
// whose vectors have kWidth bytes.
template <int kWidth, class T>
inline void WidenScaled(const T* from, float scale, int64_t n, float* to) {
#if defined(__x86_64__)
  if constexpr (kWidth > 16 && !std::is_same_v<T, int8_t>) {
    constexpr int64_t kBlock = 16;
    for (; n >= kBlock; n -= kBlock, from += kBlock, to += kBlock)
      WidenScaledBlock(from, scale, to, Wide<kWidth>());
  }
#endif
  WidenScaledAll(from, scale, n, to);
}

}  // namespace opcast_ops
