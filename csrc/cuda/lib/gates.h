// Gates: numbers times a function that rises from 0 to 1, and the slopes of the products, in float
// arithmetic. A gate G has G(-a) = 1 - G(a), so it is told by its part that decays, G(-a) for a >=
// 0, and so is the slope. Parts have a small relative error however small they are, and slopes near
// their zero too: tests/cuda_gates.cc tries floats of all sizes.
#pragma once

#include "cuda/lib/exp.h"
#include "cuda/lib/float_pairs.h"
#include "opcast/device.h"

namespace opcast_ops {

// x times a gate whose part is that of a number of x's sign. A small x is made larger first, since
// half of a denormal may be no float.
OPCAST_DEVICE Scaled TimesGate(float x, Scaled part) {
  const bool small = fabsf(x) < 0x1p-64f;
  const float larger = small ? x * 0x1p64f : x;
  const int power = small ? -64 : 0;
  if (x < 0) return {larger * part.fraction, part.power + power};
  return {larger * (1 - part.Value()), power};
}

// x * G(x), where part is G(-|x|). As infinity times zero, it is NaN for -infinity.
OPCAST_DEVICE Scaled Gated(float x, Scaled part) {
  return TimesGate(x < -kLargest ? NAN : x < -200 ? -200 : x, part);
}

// The slope at x, where part is that at -|x|.
OPCAST_DEVICE Scaled SlopeOf(float x, Scaled part) {
  return x < 0 ? part : Scaled{1 - part.Value(), 0};
}

// a + rest - zero, for a zero given in two parts.
OPCAST_DEVICE float Beyond(float a, Pair zero, float rest = 0) {
  const Pair difference = Add(a, -zero.high);
  return difference.high + (difference.low + (rest - zero.low));
}

// power * factor / divisor. The rounding errors on the way are found and made good.
OPCAST_DEVICE Scaled Divide(Power power, float factor, Pair divisor) {
  const float product = fmaf(factor, power.less_one, factor);
  const float low = fmaf(factor, power.less_one, factor - product);
  const float inverse = 1 / divisor.high, quotient = product * inverse;
  const float rest = fmaf(-quotient, divisor.high, product) + low;
  return {fmaf(fmaf(-quotient, divisor.low, rest), inverse, quotient), power.power};
}

// 1 / (1 + e^-x): x * Gate is silu. The number a may have a rest, which is small beside it.
struct Logistic {
  OPCAST_DEVICE static Scaled Part(float a, float rest = 0) {
    const Power power = Exp(-a, -rest);
    return Divide(power, 1, Add(1, power.Value()));
  }

  // With E = e^-a, the slope is E h / (1 + E)^2, where h = 1 + E - a. From its zero at z, h is
  // -(a - z) - E(z) (1 - e^-(a - z)), two terms of one sign.
  OPCAST_DEVICE static Scaled Slope(float a, float rest = 0) {
    const float nearby = Clamp(a, 200);
    const float beyond = Beyond(nearby, {0x1.474974p+0f, -0x1.bdf6fap-27f}, rest);
    const float h = fmaf(kPowerAtZero, ExpLessOne(-beyond), -beyond);
    const Power power = Exp(-nearby, -rest);
    const Pair whole = Add(1, power.Value());
    return Divide(power, h, Multiply(whole, whole));
  }

 private:
  static constexpr float kPowerAtZero = 0x1.1d25dp-2f;
};

// 1 / (1 + e^-u(x)) with u(x) = k (x + c x^3): x * Gate is the tanh form of gelu.
struct CubicLogistic {
  OPCAST_DEVICE static Scaled Part(float a) {
    const Power power = PowerOf(Clamp(a, kEnd));
    return Divide(power, 1, Add(1, power.Value()));
  }

  // As for Logistic, with h = 1 + E - a u'(a), and u(a) - u(z) = k (a - z) (1 + c s), a u'(a) - z
  // u'(z) = k (a - z) (1 + 3 c s) for s = a^2 + a z + z^2. Near 0 it is 0.5 less a times a
  // polynomial in a^2, fitted for a <= 0.4.
  OPCAST_DEVICE static Scaled Slope(float a) {
    constexpr float kCenter[] = {0x1.2bdeb8p-10f, -0x1.45b250p-7f, 0x1.f56cbap-5f, -0x1.11b14cp-2f,
                                 0x1.988454p-1f};
    if (a < 0.25f) return {fmaf(-a, Polynomial(kCenter, a * a), 0.5f), 0};
    const float nearby = Clamp(a, kEnd);
    const Pair to_zero = Add(nearby, -kZero.high);
    const float rest = fmaf(kFactor.low, to_zero.high, kFactor.high * (to_zero.low - kZero.low));
    const float beyond = fmaf(kFactor.high, to_zero.high, rest);
    const float s = fmaf(nearby, nearby, fmaf(nearby, kZero.high, kZero.high * kZero.high));
    const Pair cubic = Multiply(k3Cubic, {s, 0});
    const float less = ExpLessOne(-fmaf(beyond, cubic.high * kThird, beyond));
    const float line = fmaf(beyond, cubic.high, fmaf(beyond, cubic.low, beyond));
    const float h = fmaf(kPowerAtZero, less, -line);
    const Power power = PowerOf(nearby);
    const Pair whole = Add(1, power.Value());
    return Divide(power, h, Multiply(whole, whole));
  }

 private:
  static constexpr Pair kZero{0x1.8142ap-1f, -0x1.85a06cp-27f};
  static constexpr float kEnd = 13.6f;  // beyond, products with a float are 0 all the same
  static constexpr float kPowerAtZero = 0x1.2af64ep-2f;
  static constexpr Pair kFactor{0x1.988454p+0f, -0x1.857936p-25f};
  static constexpr float kThird = 0x1.555556p-2f;
  static constexpr Pair k3Cubic{0x1.12ba9ep-3f, -0x1.c13fd0p-28f};
  static constexpr Pair kCubic{0x1.6e4e26p-5f, 0x1.a9003ep-30f};

  // e^-u(a). The exponent is a pair: an error in it is one of the result.
  OPCAST_DEVICE static Power PowerOf(float a) {
    const Pair cube = Multiply(Multiply(Multiply(a, a), {a, 0}), kCubic);
    const Pair sum = Add(a, cube.high);
    const Pair u = Multiply({sum.high, sum.low + cube.low}, kFactor);
    return Exp(-u.high, -u.low);
  }
};

// The normal distribution function: x * Gate is gelu.
//
// Both parts are e^(-a^2 / 2) times a factor that changes little, which is a polynomial in
// (a - c) / (a + c); near 0, the gate is 0.5 less a times a polynomial in a^2. The polynomials are
// fitted for 0 <= a <= 20 and 0.75.
struct Normal {
  OPCAST_DEVICE static Scaled Part(float a) {
    constexpr float kTail[] = {-0x1.d479bep-15f, -0x1.79c8aep-15f, 0x1.22061p-11f,
                               -0x1.a51534p-11f, -0x1.88c96ap-9f,  0x1.54b938p-6f,
                               -0x1.1b1b8ap-4f,  0x1.51f624p-3f,   -0x1.410ed8p-2f,
                               0x1.fb3166p-2f,   -0x1.54ad04p-1f,  0x1.89d3acp-1f};
    constexpr float kCenter[] = {0x1.af0ed8p-14f, -0x1.359f54p-10f, 0x1.46c5bp-7f, -0x1.10582p-4f,
                                 0x1.988454p-2f};
    if (a < 0.75f) return {fmaf(-a, Polynomial(kCenter, a * a), 0.5f), 0};
    const float nearby = Clamp(a, kEnd);
    const Pair sum = Add(nearby, 5);
    return Divide(PowerOf(nearby), Polynomial(kTail, (nearby - 5) / sum.high), sum);
  }

  OPCAST_DEVICE static Scaled Slope(float a) {
    constexpr float kSlope[] = {
        -0x1.11cfb8p-16f, -0x1.c5e37cp-17f, 0x1.84df12p-13f, -0x1.47d67p-13f, -0x1.d4c9p-10f,
        0x1.3777fap-7f,   -0x1.cc1e2p-6f,   0x1.ef4fecp-5f,  -0x1.a763p-4f,   0x1.d94de8p-2f};
    const float nearby = Clamp(a, kEnd);
    const float beyond = Beyond(nearby, {0x1.80ead2p-1f, -0x1.a03fd4p-27f});
    const Power power = PowerOf(nearby);
    const float factor = Polynomial(kSlope, (nearby - 4) / (nearby + 4));
    return power.Times(factor * -beyond);
  }

 private:
  static constexpr float kEnd = 20;  // beyond, products with a float are 0 all the same

  OPCAST_DEVICE static Power PowerOf(float a) {
    const Pair square = Multiply(a, a);
    return Exp(-0.5f * square.high, -0.5f * square.low);
  }
};

}  // namespace opcast_ops
