// The exponential function in vectors of AVX-512: a table of 16 powers of two leaves a shorter
// polynomial than that of exp.h (see piecewise_avx512.h).
#pragma once

#include "cpu/lib/exp.h"
#include "cpu/lib/piecewise_avx512.h"

#if defined(__x86_64__)
namespace opcast_ops {

// ln 2 / 16; the product of the first part with an integer of 12 bits is exact.
constexpr float kSixteenthHigh = 0x1.62ep-5f, kSixteenthLow = 0x1.0bfbe8p-19f;

// 2^(k / 16) without k / 16 in the bits from the exponent down.
inline constexpr Table kSixteenths = {
    {0x1p+0f, 0x1.fb5586p-1f, 0x1.f72b84p-1f, 0x1.f387a6p-1f, 0x1.f06fep-1f, 0x1.edea64p-1f,
     0x1.ebfdaep-1f, 0x1.eab07ep-1f, 0x1.ea09e6p-1f, 0x1.ea1148p-1f, 0x1.eace54p-1f, 0x1.ec4918p-1f,
     0x1.ee89fap-1f, 0x1.f199bep-1f, 0x1.f5818ep-1f, 0x1.fa4afap-1f}};

// What a rounding takes from these, as a part of them.
inline constexpr Table kSixteenthsLow = {
    {0, 0x1.8d96d4p-25f, -0x1.9c0c22p-27f, 0x1.964904p-25f, 0x1.125002p-25f, 0x1.370be4p-25f,
     -0x1.0a355p-25f, -0x1.00d8acp-27f, 0x1.26055cp-26f, -0x1.05cb44p-25f, 0x1.67a1cap-28f,
     0x1.a3b5e4p-28f, -0x1.f9c304p-27f, -0x1.6961b4p-28f, -0x1.a5217cp-28f, 0x1.61428ep-28f}};

// 2^(n / 16) where `sum` is n + kRounder.
__attribute__((target(OPCAST_AVX512))) inline __m512 TwoToSixteenths(__m512 sum) {
  constexpr int kMantissa = 23, kSixteen = 4;
  const __m512i n = _mm512_castps_si512(sum);
  const __m512i exponent = _mm512_maskz_slli_epi32(kAll, n, kMantissa - kSixteen);
  const __m512i fraction = _mm512_castps_si512(Find(kSixteenths, n));
  return _mm512_castsi512_ps(_mm512_add_epi32(fraction, exponent));
}

// The bits of |x|.
__attribute__((target(OPCAST_AVX512))) inline __m512i MagnitudeBits(__m512 x) {
  return _mm512_and_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

// Magnitude of scalar_functions.h.
__attribute__((target(OPCAST_AVX512))) inline __m512 Magnitude(__m512 x, float most) {
  const __m512i bound = _mm512_castps_si512(_mm512_set1_ps(most));
  return _mm512_castsi512_ps(_mm512_maskz_min_epi32(kAll, MagnitudeBits(x), bound));
}

// SignOfMore of scalar_functions.h.
__attribute__((target(OPCAST_AVX512))) inline __m512i SignsOfMore(__m512 x, float most) {
  return _mm512_sub_epi32(_mm512_castps_si512(_mm512_set1_ps(most)), MagnitudeBits(x));
}

// e^x as power * (1 + rest), where x is n ln 2 / 16 + r, and `sum` is n + kRounder: the rest
// has an error of 2e-9, and what the power lacks.
struct PowerAndRest {
  __m512 power, rest;
};
__attribute__((target(OPCAST_AVX512))) inline PowerAndRest SplitExp(__m512 sum, __m512 r) {
  const __m512 bend =
      _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.555748p-3f), _mm512_set1_ps(0x1.00022ap-1f));
  const __m512 rest =
      _mm512_fmadd_ps(r * r, bend, r + Find(kSixteenthsLow, _mm512_castps_si512(sum)));
  return {TwoToSixteenths(sum), rest};
}

// 2^up e^x in the same parts, for |x| <= 200 where that is a normal number. The product with n, of
// 13 bits, is not rounded before the difference.
__attribute__((target(OPCAST_AVX512))) inline PowerAndRest SplitExp(__m512 x, int32_t up) {
  const float rounder = kRounder + static_cast<float>(up * 16);
  const __m512 sum = _mm512_fmadd_ps(x, _mm512_set1_ps(16 * kLog2E), _mm512_set1_ps(rounder));
  const __m512 n = sum - rounder;
  const __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kSixteenthHigh), x);
  return SplitExp(sum, _mm512_fnmadd_ps(n, _mm512_set1_ps(kSixteenthLow), r));
}

// (x + low) * y * e^z, where exp is e^z: what the first product's rounding takes is added again.
__attribute__((target(OPCAST_AVX512))) inline __m512 TimesExp(__m512 x, __m512 low, __m512 y,
                                                              const PowerAndRest& exp) {
  const __m512 factor = x * y, lost = _mm512_fmadd_ps(low, y, _mm512_fmsub_ps(x, y, factor));
  return (factor + _mm512_fmadd_ps(factor, exp.rest, lost)) * exp.power;
}

}  // namespace opcast_ops
#endif
