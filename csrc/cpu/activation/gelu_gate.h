// gelu as a gate of rows (see gate_rows.h and gate_rows_backward.h): for 16 bits in float, for
// float32 in double.
#pragma once

#include "cpu/activation/gate_rows.h"
#include "cpu/activation/gate_rows_backward.h"
#include "cpu/activation/gelu_slope.h"
#include "cpu/lib/gelu.h"

namespace opcast_ops {

// What a form is made of: the function for results of 16 bits, above kLeast with the relative error
// of its polynomials, and below with the absolute one of denormal floats; and both in double.
struct ExactGelu {
  static constexpr float kLeast = -12.5f;
  template <class T>
  using Slope = ExactSlope<T>;
  template <int kWidth>
  static float Short(float x) {
    return GeluShort<kWidth, LogTailOfFactor>(x);
  }
  template <int kWidth>
  static GeluParts Wide(double x) {
    return WideGelu<kWidth>(x);
  }
};
struct TanhGelu {
  static constexpr float kLeast = -9.5f;
  template <class T>
  using Slope = TanhSlope<T>;
  template <int kWidth>
  static float Short(float x) {
    return GeluTanhShort<kWidth>(x);
  }
  template <int kWidth>
  static GeluParts Wide(double x) {
    return WideGeluTanh<kWidth>(x);
  }
};

template <class Gelu>
struct GeluGate {
  template <class T>
  static constexpr bool kAlwaysWide = std::is_same_v<T, float>;

  // What denormal floats lose shows only in products with large numbers.
  template <class T>
  static bool IsOrdinary(float gate, float value) {
    constexpr float kMost = std::numeric_limits<float>::max(), kLarge = 0x1p9f;
    constexpr bool kNever = std::is_same_v<T, opcast::f16>;
    return (__builtin_fabsf(gate * value) <= kMost) &
           (kNever | (gate >= Gelu::kLeast) | (__builtin_fabsf(value) < kLarge));
  }
  template <int kWidth, class T>
  static float Of(float gate, float value) {
    return Gelu::template Short<kWidth>(gate) * value;
  }
  template <int kWidth>
  static double Wide(double gate, double value) {
    return Gelu::template Wide<kWidth>(gate).value * value;
  }
};

template <class Gelu>
struct GeluGateGradients {
  using Gate = GeluGate<Gelu>;
  template <class T>
  static constexpr bool kAlwaysWide = Gate::template kAlwaysWide<T>;

  template <class T>
  static int32_t SignOfBeyond(float grad, float gate, float value) {
    return SignUnless(
        opcast_ops::IsOrdinary<T, typename Gelu::template Slope<T>>(grad * value, gate) &
        Gate::template IsOrdinary<T>(gate, grad));
  }
  template <int kWidth, class T>
  static GateGradients Of(float grad, float gate, float value) {
    return {Gradient<kWidth, T, typename Gelu::template Slope<T>>(grad * value, gate),
            Gate::template Of<kWidth, T>(gate, grad)};
  }
  template <int kWidth>
  static GateGradients Wide(double grad, double gate, double value) {
    const GeluParts parts = Gelu::template Wide<kWidth>(gate);
    return {static_cast<float>(grad * value * parts.slope), static_cast<float>(grad * parts.value)};
  }
};

}  // namespace opcast_ops
