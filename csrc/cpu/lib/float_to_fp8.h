// Floats as numbers of 8 bits with four of them exponent, with instructions that compilers do not
// find: what their constructors compute, sixteen at once.
#pragma once

#include <cstring>

#include "opcast/fp8.h"
#include "opcast/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opcast_ops {

#if defined(__x86_64__)
// Constants of a format, as in minifloat.h: its smallest normal number, and what makes the last bit
// of a sum that of the format.
template <class T>
struct Fp8Bits;
template <>
struct Fp8Bits<opcast::f8e4m3fn> {
  static constexpr int kBias = 7, kNan = 0x7f;
  static constexpr bool kHasMinusZero = true;
};
template <>
struct Fp8Bits<opcast::f8e4m3fnuz> {
  static constexpr int kBias = 8, kNan = 0x80;
  static constexpr bool kHasMinusZero = false;
};

constexpr __mmask16 kSixteen = 0xffff;

template <class T>
__attribute__((target(OPCAST_AVX512))) inline void NarrowToFp8(const __m512& from, T* to) {
  using Format = Fp8Bits<T>;
  constexpr int kShift = 20, kSmallest = (128 - Format::kBias) << 23;
  constexpr int kAligner = (128 - Format::kBias + kShift) << 23, kRebias = (127 - Format::kBias)
                                                                           << 23;
  const __m512i bits = _mm512_castps_si512(from), nan = _mm512_set1_epi32(Format::kNan);
  const __m512i all = _mm512_and_si512(bits, _mm512_set1_epi32(0x7fffffff));
  // Beyond the range, and in infinities and NaN, codes are too large, and become NaN.
  const __m512i magnitude = _mm512_maskz_min_epi32(kSixteen, all, _mm512_set1_epi32(0x47800000));
  const __mmask16 odd = _mm512_test_epi32_mask(magnitude, _mm512_set1_epi32(1 << kShift));
  const __m512i sum =
      _mm512_add_epi32(magnitude, _mm512_set1_epi32((1 << (kShift - 1)) - 1 - kRebias));
  const __m512i rounded = _mm512_mask_add_epi32(sum, odd, sum, _mm512_set1_epi32(1));
  __m512i code = _mm512_maskz_srli_epi32(kSixteen, rounded, kShift);
  const __m512i aligner = _mm512_set1_epi32(kAligner);
  const __m512 aligned =
      _mm512_add_ps(_mm512_castsi512_ps(magnitude), _mm512_castsi512_ps(aligner));
  const __mmask16 small = _mm512_cmplt_epi32_mask(magnitude, _mm512_set1_epi32(kSmallest));
  code = _mm512_mask_sub_epi32(code, small, _mm512_castps_si512(aligned), aligner);
  code = _mm512_maskz_min_epi32(kSixteen, code, nan);
  __mmask16 negative = _mm512_movepi32_mask(bits);
  if constexpr (!Format::kHasMinusZero) {
    const __mmask16 numbers = _mm512_mask_cmpneq_epi32_mask(negative, code, nan);
    negative = _mm512_mask_test_epi32_mask(numbers, code, code);
  }
  code = _mm512_mask_or_epi32(code, negative, code, _mm512_set1_epi32(0x80));
  const __m128i bytes = _mm512_maskz_cvtepi32_epi8(kSixteen, code);
  std::memcpy(to, &bytes, sizeof bytes);
}
#endif

}  // namespace opcast_ops
