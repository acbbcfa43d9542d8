// The gradients of silu(gate) * value in vectors of AVX-512, by pieces: see
// silu_and_mul_backward.cc.
#pragma once

#include "cpu/lib/exp_avx512.h"

#if defined(__x86_64__)
namespace opcast_ops {

// silu'(-a), divided by exp(-a) and zero - a, for 0 <= a <= 18.46, with a relative error of 6e-9.
// The zero, of two parts, is that of silu', or 1 where silu' is nearly exp(-a) * (1 - a): in the
// pieces from 5 / kScale on. What follows 18.46 is 1 but for 2e-8.
struct SlopeOfSilu {
  static constexpr float kScale = 0x1.ap-1f, kEnd = 18.4f;

  Table zero, zero_low;
  CentredPieces<6> rest;
};
inline constexpr SlopeOfSilu kSiluSlope = {
    {{0x1.474974p+0f, 0x1.474974p+0f, 0x1.474974p+0f, 0x1.474974p+0f, 0x1.474974p+0f,
      0x1.474974p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1p+0f, 0x1.474974p+0f,
      0x1.474974p+0f, 0x1.474974p+0f, 0x1.474974p+0f}},
    {{-0x1.bdf6fap-27f, -0x1.bdf6fap-27f, -0x1.bdf6fap-27f, -0x1.bdf6fap-27f, -0x1.bdf6fap-27f,
      -0x1.bdf6fap-27f, 0, 0, 0, 0, 0, 0, -0x1.bdf6fap-27f, -0x1.bdf6fap-27f, -0x1.bdf6fap-27f,
      -0x1.bdf6fap-27f}},
    {{{0x1.8c721p+0f, 0x1.129af6p+1f, 0x1.61174ap+1f, 0x1.b24b4ep+1f, 0x1.141e2p+2f, 0x1.61842ep+2f,
       0x1.b1f09p+2f, 0x1.00a356p+3f, 0x1.3a4604p+3f, 0x1.88b63ep+3f, 0x1.d99592p+3f,
       0x1.1463b2p+4f, 0x1.2fbbf2p-3f, 0x1.d382dap-2f, 0x1.8aa64cp-1f, 0x1.1294e8p+0f}},
     {{{{-0x1.4604ep-12f, 0x1.3cceccp-12f, 0x1.10fb0ep-12f, 0x1.5eaf18p-14f, -0x1.feccd8p-18f,
         -0x1.23306p-17f, -0x1.089e7ap-18f, -0x1.29ec48p-20f, -0x1.7b13a8p-23f, -0x1.b5ee1p-27f,
         -0x1.0158e2p-32f, -0x1.4ddbacp-25f, 0x1.26b688p-11f, 0x1.87615p-13f, -0x1.21a5bep-11f,
         -0x1.2db242p-10f}},
       {{-0x1.dcb0c8p-10f, -0x1.907d2p-10f, -0x1.f10faap-12f, 0x1.7f7314p-15f, 0x1.1bc25cp-13f,
         0x1.dec176p-15f, 0x1.7f33c4p-16f, 0x1.ad45d2p-18f, 0x1.1eaaccp-20f, 0x1.78b408p-24f,
         0x1.d64b3ep-28f, 0x1.34f4e6p-31f, 0x1.1a4cb6p-8f, 0x1.20bd1cp-8f, 0x1.5618e2p-9f,
         0x1.f302bp-13f}},
       {{0x1.f4da5cp-8f, 0x1.0e59bp-9f, -0x1.e349cep-11f, -0x1.76411ap-10f, -0x1.bdddccp-11f,
         -0x1.1bde4p-12f, -0x1.cbca82p-14f, -0x1.02bcdp-15f, -0x1.4b4112p-18f, -0x1.c2b072p-22f,
         -0x1.2c90c4p-25f, 0x1.8a3e96p-24f, -0x1.44381ap-8f, 0x1.1945bep-9f, 0x1.025b1p-7f,
         0x1.4960a6p-7f}},
       {{-0x1.14d466p-10f, 0x1.5162ccp-7f, 0x1.695404p-7f, 0x1.f9905p-8f, 0x1.bf6b94p-9f,
         0x1.db7198p-11f, 0x1.c22ac8p-12f, 0x1.fcf406p-14f, 0x1.47253cp-16f, 0x1.bac2c2p-20f,
         0x1.17861ap-23f, 0x1.75d476p-27f, -0x1.1d4bcep-5f, -0x1.2b6ebep-5f, -0x1.e9f232p-6f,
         -0x1.32720ap-6f}},
       {{-0x1.281cfep-4f, -0x1.fbe2cap-5f, -0x1.521b94p-5f, -0x1.7ce094p-6f, -0x1.129b12p-7f,
         -0x1.6beb8p-10f, -0x1.4bb06cp-10f, -0x1.789d18p-12f, -0x1.e7a918p-15f, -0x1.4a745ap-18f,
         -0x1.a0945p-22f, -0x1.8393acp-24f, 0x1.db938cp-6f, -0x1.3166ccp-8f, -0x1.2b7742p-5f,
         -0x1.e151a4p-5f}},
       {{0x1.bd2eaap-3f, 0x1.14f0fep-3f, 0x1.260e4ap-4f, 0x1.025f86p-5f, 0x1.155be8p-8f,
         -0x1.7abd78p-8f, 0x1.46d9dep-9f, 0x1.747f78p-11f, 0x1.e42cecp-14f, 0x1.493878p-17f,
         0x1.a0f9e6p-21f, 0x1.171aaap-24f, 0x1.44581ap-2f, 0x1.4c1e8ep-2f, 0x1.3e845cp-2f,
         0x1.2089aep-2f}},
       {{0x1.b1373p-1f, 0x1.e6c156p-1f, 0x1.034a16p+0f, 0x1.0b5eb8p+0f, 0x1.0f0de2p+0f,
         0x1.0e6394p+0f, 0x1.febd08p-1f, 0x1.ffa3b4p-1f, 0x1.fff0f6p-1f, 0x1.fffeb8p-1f,
         0x1.ffffe6p-1f, 0x1.fffffep-1f, 0x1.bfd0d8p-2f, 0x1.12c52ep-1f, 0x1.4627acp-1f,
         0x1.7420b4p-1f}}}}}};

// e^-a for 0 <= a <= 87.
__attribute__((target(OPCAST_AVX512))) inline PowerAndRest ExpOfMinus(__m512 a) {
  const __m512 sum = _mm512_fmadd_ps(a, _mm512_set1_ps(-16 * kLog2E), _mm512_set1_ps(kRounder));
  const __m512 n = sum - kRounder;
  const __m512 r = _mm512_fnmsub_ps(n, _mm512_set1_ps(kSixteenthHigh), a);
  return SplitExp(sum, _mm512_fnmadd_ps(n, _mm512_set1_ps(kSixteenthLow), r));
}

// (product + low) * silu'(-a), where exp is e^-a.
__attribute__((target(OPCAST_AVX512))) inline __m512 TimesSiluSlope(__m512 product, __m512 low,
                                                                    __m512 a,
                                                                    const PowerAndRest& exp) {
  const SlopeOfSilu& of = kSiluSlope;
  const __m512 nearby = Magnitude(a, of.kEnd);
  const __m512i places = PlaceOf(nearby, of.kScale);
  const __m512 zero = (Find(of.zero, places) - a) + Find(of.zero_low, places);
  const __m512 top = product * zero;
  const __m512 top_low = _mm512_fmadd_ps(low, zero, _mm512_fmsub_ps(product, zero, top));
  return TimesExp(top, top_low, of.rest.At(nearby, places), exp);
}

}  // namespace opcast_ops
#endif
