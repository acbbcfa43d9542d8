// gelu, and the same in vectors of AVX-512, by pieces (see piecewise_avx512.h).
#pragma once

#include "cpu/lib/exp_avx512.h"
#include "cpu/lib/gelu.h"
#include "cpu/lib/map_elements.h"

namespace opcast_ops {

// x F(x) to 3.9 ulp.
//
// a F(-a) is u exp(-a^2 / 2) times a function of u = a / (a + kNear) that changes slowly: here the
// polynomial in u - 0.25 of least relative error, 1.5e-8, for a <= kEnd. The exponential comes
// first, since the quotient takes long: -a^2 is 2 n ln 2 + r, and `twice` is 2 (e^(r / 2) - 1) by
// the polynomial of ExpLessOne, so that no number has to be halved.
template <int kWidth>
inline float GeluExact(float x) {
  constexpr float kEnd = 14.5f;       // beyond, a F(-a) is 0
  constexpr float kNear = 3.766875f;  // the polynomial loses least of its constants' roundings here
  const float a = Magnitude(x, kEnd);
  const float u = a / (a + kNear);

  constexpr float kShift = kRounder + 64;  // the power would leave its range before the result is 0
  const float shifted = Fma<kWidth>(a * a, -0.5f * kLog2E, kShift), n = shifted - kShift;
  const float r = Fma<kWidth>(n, -2 * kLn2Low, Fma<kWidth>(-a, a, n * (-2 * kLn2High)));
  const float square = r * r;
  const float first = Fma<kWidth>(0x1.55548ep-5f, r, 0.25f),
              last = Fma<kWidth>(0x1.123bdep-11f, r, 0x1.55545ep-8f);
  const float rest = Fma<kWidth>(Fma<kWidth>(0x1.6db4e8p-15f, square, last), square, first);
  const float twice = Fma<kWidth>(square, rest, r);

  const float p = Polynomial<kWidth>(u - 0.25f, 0x1.da3242p-4f, -0x1.407298p-3f, -0x1.93f814p-3f,
                                     0x1.b0e9ecp-2f, 0x1.55cc9ap-2f, -0x1.c0a770p+0f,
                                     0x1.477f00p+1f, -0x1.142d8cp+1f, 0x1.27e7b8p+0f);
  const float factor = u * TimesPower(p, RoundedBy(shifted), 0);
  const float tail = Fma<kWidth>(factor, twice, factor + factor);  // 2^65 a F(-a)
  return OrSign(Fma<kWidth>(tail, -0x1p-65f, Ramp(x)), x);
}

#if defined(__x86_64__)
// a F(-a) exp(a^2 / 2) for 0 <= a <= 14.6, with a relative error of 9e-8 below 1/4, and of 4e-8
// elsewhere. The middle of a piece is a number for which this is next to a float, so that rounding
// the constant takes little.
inline constexpr CentredPieces<5> kGeluTail = {
    {{0x1.42617cp+0f, 0x1.c1d6ep+0f, 0x1.213e82p+1f, 0x1.5f04acp+1f, 0x1.c28f08p+1f, 0x1.2113bep+2f,
      0x1.611ee2p+2f, 0x1.a10c0ap+2f, 0x1.00b2eap+3f, 0x1.411782p+3f, 0x1.7f6042p+3f,
      0x1.b97658p+3f, 0, 0x1.8423b8p-2f, 0x1.418f1ep-1f, 0x1.bdfd36p-1f}},
    {{{{0x1.e3442cp-9f, 0x1.6d72ccp-10f, 0x1.2c3ad8p-11f, 0x1.0948e6p-12f, 0x1.65c79p-14f,
        0x1.87414p-16f, 0x1.fbfcdcp-18f, 0x1.7a0c4ap-19f, 0x1.acc908p-21f, 0x1.95c15ep-23f,
        0x1.e52b28p-25f, 0x1.799742p-26f, 0x1.8b48bp-5f, 0x1.9ae3b4p-6f, 0x1.ca0374p-7f,
        0x1.067544p-7f}},
      {{-0x1.425904p-7f, -0x1.0e149cp-8f, -0x1.e59a1ep-10f, -0x1.e1128ep-11f, -0x1.61439ep-12f,
        -0x1.c65c9cp-14f, -0x1.53d2acp-15f, -0x1.1fc2aap-16f, -0x1.7fa6p-18f, -0x1.b72026p-20f,
        -0x1.3f083ap-21f, -0x1.1932e6p-22f, -0x1.0a4da4p-3f, -0x1.cfe60cp-5f, -0x1.115922p-5f,
        -0x1.4e6e2ep-6f}},
      {{0x1.89dbap-6f, 0x1.6e317p-7f, 0x1.6c003cp-8f, 0x1.8b603ep-9f, 0x1.48785ap-10f,
        0x1.f27356p-12f, 0x1.b03bbap-13f, 0x1.a1b14ap-14f, 0x1.457398p-15f, 0x1.c947d4p-17f,
        0x1.888dc8p-18f, 0x1.8d2148p-19f, 0x1.ff7a76p-3f, 0x1.d869f6p-4f, 0x1.260ad8p-4f,
        0x1.7b449ep-5f}},
      {{-0x1.a94042p-5f, -0x1.ba19aap-6f, -0x1.e93e74p-7f, -0x1.24ebd4p-7f, -0x1.19de44p-8f,
        -0x1.fa3a7p-10f, -0x1.fe434p-11f, -0x1.19f26p-11f, -0x1.066beap-12f, -0x1.c2905ap-14f,
        -0x1.c7a65p-15f, -0x1.075c1ap-15f, -0x1.988254p-2f, -0x1.9dcce4p-3f, -0x1.11947p-3f,
        -0x1.75f156p-4f}},
      {{0x1.777ed6p-4f, 0x1.ba1526p-5f, 0x1.134668p-5f, 0x1.6e9b2ap-6f, 0x1.9ceffcp-7f,
        0x1.bb719ep-8f, 0x1.05a4e8p-8f, 0x1.4c53eep-9f, 0x1.7344ap-10f, 0x1.8713fep-11f,
        0x1.d33244p-12f, 0x1.34fa7cp-12f, 0x1.fffffep-2f, 0x1.20816cp-2f, 0x1.989a2p-3f,
        0x1.2a35cap-3f}},
      {{0x1.284038p-2f, 0x1.4c5568p-2f, 0x1.625998p-2f, 0x1.6ff216p-2f, 0x1.7d6698p-2f,
        0x1.86e426p-2f, 0x1.8c3dfp-2f, 0x1.8f81c8p-2f, 0x1.927196p-2f, 0x1.949322p-2f,
        0x1.95ba6ep-2f, 0x1.966746p-2f, 0, 0x1.25e024p-3f, 0x1.9f2484p-3f, 0x1.f42e36p-3f}}}}};

// 16 times the binary logarithm of F(-a), as near as results of a dtype need it: within 3.3e-3 up
// to a = 13.8 for bfloat16, and within 1.2e-4 up to a = 6 for float16.
template <class T>
struct LogPieces;
template <>
struct LogPieces<opcast::bf16> {
  static constexpr float kEnd = 13.7f;
  static constexpr Pieces<2> kOf = {
      {{{-0x1.31906ap+3f, -0x1.410b66p+3f, -0x1.4c18bcp+3f, -0x1.5413e6p+3f, -0x1.5c2c98p+3f,
         -0x1.62ed98p+3f, -0x1.6700c2p+3f, -0x1.699c3ap+3f, -0x1.6bff16p+3f, -0x1.6dd27cp+3f,
         -0x1.6edb4p+3f, -0x1.6f5676p+3f, -0x1.e99362p+2f, -0x1.064c5ep+3f, -0x1.15540ep+3f,
         -0x1.221d02p+3f}},
       {{-0x1.00d56p+4f, -0x1.d3a2fcp+3f, -0x1.a7b6eap+3f, -0x1.8001c2p+3f, -0x1.4e53d6p+3f,
         -0x1.18dbdcp+3f, -0x1.e0d1f4p+2f, -0x1.a295d8p+2f, -0x1.5e954cp+2f, -0x1.1d8e2ep+2f,
         -0x1.e0c382p+1f, -0x1.afb6dep+1f, -0x1.263c98p+4f, -0x1.21e8cap+4f, -0x1.1a70d2p+4f,
         -0x1.10e4a8p+4f}},
       {{-0x1.0e5a44p+4f, -0x1.1f8026p+4f, -0x1.3558fcp+4f, -0x1.4e0feap+4f, -0x1.743396p+4f,
         -0x1.a92e08p+4f, -0x1.db68c8p+4f, -0x1.04edcap+5f, -0x1.233b32p+5f, -0x1.47747ep+5f,
         -0x1.664e14p+5f, -0x1.79d4e6p+5f, -0x1.000192p+4f, -0x1.008d5ap+4f, -0x1.026ae4p+4f,
         -0x1.05fdap+4f}}}};
};
template <>
struct LogPieces<opcast::f16> {
  static constexpr float kEnd = 5.9f;
  static constexpr Pieces<3> kOf = {
      {{{-0x1.856556p-2f, -0x1.15186p-2f, -0x1.8daa7ep-3f, -0x1.216e6ap-3f, -0x1.750d5ep-4f,
         -0x1.b55648p-5f, -0x1.10e82p-5f, -0x1.10e82p-5f, -0x1.10e82p-5f, -0x1.10e82p-5f,
         -0x1.10e82p-5f, -0x1.10e82p-5f, -0x1.913a94p-1f, -0x1.5a5b1cp-1f, -0x1.27b5b4p-1f,
         -0x1.f56112p-2f}},
       {{-0x1.03f6d6p+3f, -0x1.139b3ep+3f, -0x1.222bccp+3f, -0x1.2ec776p+3f, -0x1.3d991ap+3f,
         -0x1.4be0f6p+3f, -0x1.556baep+3f, -0x1.556baep+3f, -0x1.556baep+3f, -0x1.556baep+3f,
         -0x1.556baep+3f, -0x1.556baep+3f, -0x1.d6cba8p+2f, -0x1.dbea8ep+2f, -0x1.e55f84p+2f,
         -0x1.f1fd56p+2f}},
       {{-0x1.1d072ap+4f, -0x1.115a9p+4f, -0x1.02dc2ep+4f, -0x1.e65602p+3f, -0x1.b8b50cp+3f,
         -0x1.803354p+3f, -0x1.50df6p+3f, -0x1.50df6p+3f, -0x1.50df6p+3f, -0x1.50df6p+3f,
         -0x1.50df6p+3f, -0x1.50df6p+3f, -0x1.26adp+4f, -0x1.265806p+4f, -0x1.25278p+4f,
         -0x1.22c948p+4f}},
       {{-0x1.02d9bap+4f, -0x1.08afb2p+4f, -0x1.1253b8p+4f, -0x1.1f5e86p+4f, -0x1.36d5d4p+4f,
         -0x1.5c32cp+4f, -0x1.836372p+4f, -0x1.836372p+4f, -0x1.836372p+4f, -0x1.836372p+4f,
         -0x1.836372p+4f, -0x1.836372p+4f, -0x1.000004p+4f, -0x1.0007a2p+4f, -0x1.003b3cp+4f,
         -0x1.00d3a4p+4f}}}};
};

// x, or -0 below 0; NaN for -inf. All NaN become one.
__attribute__((target(OPCAST_AVX512))) inline __m512 Ramp(__m512 x) {
  constexpr int kRules = 0x17101100;  // -0 for what is negative, `nan` for both kinds and -inf
  const __m512 nan = _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN());
  return _mm512_fixupimm_ps(nan, x, _mm512_set1_epi32(kRules), 0);
}

// x F(x) to 3.2 ulp; all NaN become one. As in GeluExact, but -a^2 is n ln 2 / 8 + r.
__attribute__((target(OPCAST_AVX512))) inline __m512 GeluExactVector(__m512 x) {
  constexpr float kEnd = 14.5f;                                 // beyond, a F(-a) is 0
  constexpr float kShift = kRounder + 64 * 16;                  // as in GeluExact
  constexpr float kHigh = 0x1.62ep-4f, kLow = 0x1.0bfbe8p-18f;  // ln 2 / 8; n * kHigh is exact
  const __m512 a = Magnitude(x, kEnd);

  const __m512 shifted =
      _mm512_fmadd_ps(a * a, _mm512_set1_ps(-8 * kLog2E), _mm512_set1_ps(kShift));
  const __m512 n = shifted - kShift;
  const __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(kLow), _mm512_fnmadd_ps(a, a, n * -kHigh));
  const __m512 bend =
      _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.555748p-5f), _mm512_set1_ps(0x1.00022ap-2f));
  const __m512 twice = _mm512_fmadd_ps(r * r, bend, r);  // 2 (e^(r / 2) - 1)

  const __m512 factor = kGeluTail.At(a) * TwoToSixteenths(shifted);
  const __m512 tail = _mm512_fmadd_ps(factor, twice, factor + factor);  // 2^65 a F(-a)
  return _mm512_fmadd_ps(tail, _mm512_set1_ps(-0x1p-65f), Ramp(x));
}

// The same for results of 16 bits, to 0.6 ulp.
template <class T>
__attribute__((target(OPCAST_AVX512))) inline __m512 GeluShortVector(__m512 x) {
  constexpr int kUp = 16;  // F(-a) leaves the range of floats before a F(-a) is 0
  constexpr float kShift = kRounder + kUp * 16;
  const __m512 a = Magnitude(x, LogPieces<T>::kEnd), logarithm = LogPieces<T>::kOf.At(a);
  const __m512 shifted = logarithm + kShift, r = logarithm - (shifted - kShift);
  // 2^(r / 16) = 1 + r * slope, but for 3e-4, or 2e-6 where the slope has a slope.
  __m512 slope = _mm512_set1_ps(0x1.62e43p-5f);
  if (!std::is_same_v<T, opcast::bf16>)
    slope = _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.ebfbdep-11f), slope);
  const __m512 power = TwoToSixteenths(shifted);
  const __m512 tail = _mm512_fmadd_ps(power, r * slope, power);
  const __m512 down = _mm512_maskz_scalef_ps(kAll, a, _mm512_set1_ps(-kUp));
  return _mm512_fnmadd_ps(down, tail, Ramp(x));
}
#endif

// What map_elements.h calls: for vectors of 64 bytes the functions above, else those of one number.
template <int kWidth, class T>
struct GeluOf {
  float operator()(float x) const {
    if constexpr (std::is_same_v<T, float>)
      return GeluExact<kWidth>(x);
    else
      return GeluShort<kWidth, LogTail<T>>(x);
  }
};
#if defined(__x86_64__)
template <class T>
__attribute__((target(OPCAST_AVX512))) inline void MapLanes(GeluOf<64, T>, Lanes<64>* y,
                                                            const Lanes<64>& x) {
  const __m512 numbers = _mm512_load_ps(x.numbers);
  if constexpr (std::is_same_v<T, float>)
    _mm512_store_ps(y->numbers, GeluExactVector(numbers));
  else
    _mm512_store_ps(y->numbers, GeluShortVector<T>(numbers));
}
#endif

}  // namespace opcast_ops
