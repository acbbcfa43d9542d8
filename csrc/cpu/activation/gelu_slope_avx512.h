// The slope of gelu's tanh form in vectors of AVX-512, by pieces (see gelu_slope.h).
#pragma once

#include "cpu/activation/gelu_slope.h"
#include "cpu/lib/exp_avx512.h"
#include "cpu/lib/map_elements.h"

namespace opcast_ops {

// What map_elements.h calls to get a gradient: for the tanh form in float32 and vectors of 64
// bytes, the function of vectors below.
template <int kWidth, class T, class Slope>
struct GradientOf {
  float operator()(float grad, float x) const { return Gradient<kWidth, T, Slope>(grad, x); }
};

#if defined(__x86_64__)
// The slope at -a, divided by exp(-s(a)) and kTanhZero - a, for 0 <= a <= 9.97, with a relative
// error of 6e-9; s is the sigmoid's argument.
inline constexpr CentredPieces<6> kTanhSlope = {
    {{0x1.417f62p+0f, 0x1.bf1de6p+0f, 0x1.1fc01ap+1f, 0x1.5f9db2p+1f, 0x1.c1930cp+1f, 0x1.2044dp+2f,
      0x1.5fac72p+2f, 0x1.9f0a3ep+2f, 0x1.005d64p+3f, 0x1.2fca4p+3f, 0x1.2fca4p+3f, 0x1.2fca4p+3f,
      0x1.f05532p-4f, 0x1.7f1412p-2f, 0x1.4212d8p-1f, 0x1.c07fccp-1f}},
    {{{{-0x1.e57caep-8f, 0x1.46d9a8p-16f, 0x1.7854dap-9f, 0x1.fefc96p-10f, -0x1.1fa3b6p-12f,
        -0x1.8a2b1cp-13f, 0x1.a19d6ep-19f, -0x1.a5f436p-17f, 0x1.07f67ap-22f, -0x1.f01732p-15f,
        -0x1.f01732p-15f, -0x1.f01732p-15f, 0x1.2918d4p-7f, 0x1.70aabp-8f, -0x1.694c3p-10f,
        -0x1.4eaa5cp-7f}},
      {{-0x1.a15a6ap-9f, -0x1.cbd4f6p-7f, -0x1.0343a8p-7f, -0x1.59e8eep-13f, 0x1.4fbc44p-9f,
        0x1.213cfp-12f, -0x1.451f22p-16f, -0x1.e21bbap-19f, -0x1.2e4a18p-19f, 0x1.68b9bcp-17f,
        0x1.68b9bcp-17f, 0x1.68b9bcp-17f, 0x1.04f502p-6f, 0x1.9d86e6p-6f, 0x1.8dcc36p-6f,
        0x1.0d21dp-6f}},
      {{0x1.9caf18p-5f, 0x1.8ba69p-6f, -0x1.60b99cp-8f, -0x1.e0407ep-7f, -0x1.aa18fcp-8f,
        -0x1.322fbcp-15f, 0x1.f1c718p-14f, 0x1.bafc8ep-15f, 0x1.e73956p-17f, 0x1.f3d99cp-16f,
        0x1.f3d99cp-16f, 0x1.f3d99cp-16f, -0x1.80374cp-5f, -0x1.50602cp-6f, 0x1.946a18p-7f,
        0x1.3bd828p-5f}},
      {{-0x1.c5f406p-6f, 0x1.97c7ccp-5f, 0x1.0d97d8p-4f, 0x1.5c8c6ep-5f, 0x1.f6502ep-8f,
        -0x1.1ecde8p-10f, -0x1.2e498cp-11f, -0x1.1cdc9ap-12f, -0x1.b7ef28p-14f, -0x1.bd044p-15f,
        -0x1.bd044p-15f, -0x1.bd044p-15f, -0x1.63c842p-4f, -0x1.f36e32p-4f, -0x1.021ac8p-3f,
        -0x1.999b72p-4f}},
      {{-0x1.31cdcp-5f, -0x1.dc2bdap-7f, 0x1.47785ap-4f, 0x1.4e78c6p-3f, 0x1.b9e682p-3f,
        0x1.c13f9p-3f, 0x1.bc023cp-3f, 0x1.b993a6p-3f, 0x1.b7f79cp-3f, 0x1.b74b5p-3f, 0x1.b74b5p-3f,
        0x1.b74b5p-3f, 0x1.338e9ep-2f, 0x1.c16acap-3f, 0x1.f59cp-4f, 0x1.30458cp-5f}},
      {{0x1.36668ep+0f, 0x1.2d7892p+0f, 0x1.355f18p+0f, 0x1.5534ep+0f, 0x1.a220fcp+0f,
        0x1.08ce6cp+1f, 0x1.40145p+1f, 0x1.76dc98p+1f, 0x1.caefe8p+1f, 0x1.0e2fd6p+2f,
        0x1.0e2fd6p+2f, 0x1.0e2fd6p+2f, 0x1.eb2fd6p-1f, 0x1.1789bcp+0f, 0x1.2de32cp+0f,
        0x1.37c598p+0f}},
      {{0x1.0b2bc8p+1f, 0x1.561bc2p+1f, 0x1.a22d82p+1f, 0x1.f2e254p+1f, 0x1.41c2cep+2f,
        0x1.b73e84p+2f, 0x1.2410fcp+3f, 0x1.7a1482p+3f, 0x1.0c96dap+4f, 0x1.69279cp+4f,
        0x1.69279cp+4f, 0x1.69279cp+4f, 0x1.8d6794p-1f, 0x1.09556p+0f, 0x1.53b88ap+0f,
        0x1.9fb522p+0f}}}}};

// e^-s(a): GeluArgument of sigmoid_gates.h.
__attribute__((target(OPCAST_AVX512))) inline PowerAndRest ExpOfTanhForm(__m512 a) {
  using Parts = GeluArgumentParts;
  const __m512 third = _mm512_set1_ps(Parts::kThird), linear = _mm512_set1_ps(Parts::kLinear);
  const __m512 square = a * a, square_low = _mm512_fmsub_ps(a, a, square);
  const __m512 slope = _mm512_fmadd_ps(square, third, linear);
  const __m512 lost = _mm512_fmadd_ps(square, third, linear - slope) + Parts::kLinearLow;
  const __m512 low = _mm512_fmadd_ps(
      square_low, third, _mm512_fmadd_ps(square, _mm512_set1_ps(Parts::kThirdLow), lost));
  const __m512 sum =
      _mm512_fmadd_ps(a * slope, _mm512_set1_ps(-16 * kLog2E), _mm512_set1_ps(kRounder));
  const __m512 n = sum - kRounder;
  const __m512 r = _mm512_fnmadd_ps(a, slope, n * -kSixteenthHigh);
  return SplitExp(sum, r - _mm512_fmadd_ps(a, low, n * kSixteenthLow));
}

// grad * slope(x) to 3.2 ulp.
__attribute__((target(OPCAST_AVX512))) inline __m512 TanhGradientVector(__m512 grad, __m512 x) {
  constexpr TwoFloats kZero(kTanhZero);
  const __m512 a = Magnitude(x, TanhSlope<float>::kEnd);
  const PowerAndRest exp = ExpOfTanhForm(a);
  const __m512 zero = (kZero.high - a) + kZero.low;
  const __m512 top = grad * zero, top_low = _mm512_fmsub_ps(grad, zero, top);
  const __m512 lower = TimesExp(top, top_low, kTanhSlope.At(a), exp);
  const __mmask16 upper = _knot_mask16(_mm512_movepi32_mask(_mm512_castps_si512(x)));
  return _mm512_mask_sub_ps(lower, upper, grad, lower);
}

__attribute__((target(OPCAST_AVX512))) inline void MapLanes(GradientOf<64, float, TanhSlope<float>>,
                                                            Lanes<64>* y, const Lanes<64>& grad,
                                                            const Lanes<64>& x) {
  const __m512 result = TanhGradientVector(_mm512_load_ps(grad.numbers), _mm512_load_ps(x.numbers));
  _mm512_store_ps(y->numbers, result);
}
#endif

}  // namespace opcast_ops
