// grad_x[i, j] = grad_y[i, j] * x[i, D + j] * silu'(x[i, j]) and grad_x[i, D + j] = grad_y[i, j] *
// silu(x[i, j]), dense rows. Computed in float, the slope for float32 with what its products lose;
// rows in which a part of that leaves the range of floats in double. Rounded once.
#include "cpu/lib/standard_headers.h"

#include "cpu/activation/gate_rows_backward.h"
#include "cpu/activation/silu_slope_avx512.h"
#include "cpu/lib/sigmoid_gates.h"
#include "silu_and_mul_backward.gen.h"

namespace opcast_ops {
namespace {

// For results of 16 bits. With e = exp(-gate), silu' is (1 + e * (1 + gate)) / (1 + e)^2.
struct Short {
  static constexpr float kLeast = -80, kMost = std::numeric_limits<float>::max();

  template <int kWidth>
  static GateGradients Of(float grad, float gate, float value) {
    const float x = Select(gate > -kLeast, -kLeast, gate);
    const auto parts = SplitNearPower<kWidth>(-kLog2E * x);
    const float e = parts.template Fraction<kWidth>() * PowerOfTwo(parts.n);
    const float sigmoid = 1 / (1 + e);
    const float slope = sigmoid * (sigmoid * Fma<kWidth>(e, 1 + x, 1));
    return {grad * value * slope, grad * (gate * sigmoid)};
  }
};

// For float32, to 3.8 ulp.
//
// silu'(a) is 1 - silu'(-a). With e = exp(-a), silu'(-a) is e * (1 + e - a) / (1 + e)^2, and
// 1 + e - a is z - a + e - exp(-z) with the zero z of that.
struct Long {
  static constexpr float kLeast = -87, kMost = 0x1p120f;

  template <int kWidth>
  static GateGradients Of(float grad, float gate, float value) {
    constexpr double kZero = 0x1.474973c84120bp0;
    constexpr TwoFloats kZeros(kZero);
    constexpr float kAtZero = static_cast<float>(kZero - 1);
    const float a = Magnitude(gate, -kLeast);
    const Decay<kWidth> decay(Reduce<kWidth>(-a));
    // n is 1 + e - a, and loses what its last sum lacks.
    const float from = kZeros.high - a;
    const float rest = kZeros.low + decay.Above(from + kZeros.low, kAtZero);
    const float n = from + rest, product = grad * value;
    const float lower = decay.Falling(product, n, rest - (n - from));
    const float upper = grad * gate * decay.gate;
    return {SelectBySign(gate, lower, product - lower),
            SelectBySign(gate, Fma<kWidth>(upper, decay.rest, upper) * decay.power, upper)};
  }
};

struct Silu {
  template <class T>
  static constexpr bool kAlwaysWide = false;
  template <class T>
  using Float = std::conditional_t<std::is_same_v<T, float>, Long, Short>;

  template <class T>
  static int32_t SignOfBeyond(float grad, float gate, float value) {
    constexpr float kMost = Float<T>::kMost;
    return SignOfMore(grad * value, kMost) | SignOfMore(grad * gate, kMost) |
           SignBits(gate - Float<T>::kLeast);
  }
  template <int kWidth, class T>
  static GateGradients Of(float grad, float gate, float value) {
    return Float<T>::template Of<kWidth>(grad, gate, value);
  }
  template <int kWidth>
  static GateGradients Wide(double grad, double gate, double value) {
    const double sigmoid = Sigmoid<kWidth>(gate);
    return {static_cast<float>(grad * value * SiluSlope(gate, sigmoid)),
            static_cast<float>(grad * (gate * sigmoid))};
  }
};

#if defined(__x86_64__)
// What Long and SignOfBeyond say, to 3.6 ulp.
__attribute__((target(OPCAST_AVX512))) inline void GateLanes(Silu, const float*, Lanes<64>* grads,
                                                             Lanes<64>* gates,
                                                             const Lanes<64>& values,
                                                             int32_t* broken) {
  const __m512 grad = _mm512_load_ps(grads->numbers), gate = _mm512_load_ps(gates->numbers);
  const __m512 value = _mm512_load_ps(values.numbers);
  const __m512 product = grad * value, low = _mm512_fmsub_ps(grad, value, product);
  const __m512 by_gate = grad * gate;
  const __m512i beyond = SignsOfMore(product, Long::kMost) | SignsOfMore(by_gate, Long::kMost) |
                         _mm512_castps_si512(gate - Long::kLeast);
  _mm512_storeu_si512(broken, _mm512_loadu_si512(broken) | beyond);

  const __m512 a = Magnitude(gate, -Long::kLeast);
  const PowerAndRest exp = ExpOfMinus(a);
  const __m512 lower = TimesSiluSlope(product, low, a, exp);
  const __m512 e = _mm512_fmadd_ps(exp.power, exp.rest, exp.power), sum = 1 + e;
  const __m512 upper = by_gate / sum;
  const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(gate));
  // What the sum lacks is given back, since the power, which is none of two, has a rounding more.
  const __m512 rest = exp.rest - (e - (sum - 1));
  const __m512 falling = _mm512_fmadd_ps(upper, rest, upper) * exp.power;
  _mm512_store_ps(grads->numbers,
                  _mm512_mask_sub_ps(lower, _knot_mask16(negative), product, lower));
  _mm512_store_ps(gates->numbers, _mm512_mask_blend_ps(negative, upper, falling));
}
#endif

}  // namespace

opcast::Status SiluAndMulBackward(const SiluAndMulBackwardArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) { return GateRowsBackward<Silu>(a, launch); });
}

}  // namespace opcast_ops
