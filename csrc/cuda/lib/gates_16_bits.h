// Gates for results of 16 bits: the numbers times a function of gates.h, with a relative error
// below 2e-5, an eighth of the last place of a float16 or less. Powers and inverses are those that
// the GPU approximates, and there are no branches, so that it computes them as fast as it reads
// memory. tests/cuda_gates.cc tries every number of 16 bits.
#pragma once

#include <cstdint>

#include "cuda/lib/exp.h"
#include "opcast/device.h"
#include "opcast/minifloat.h"

namespace opcast_ops {

constexpr float kLog2E = 0x1.715476p0f;

// e^x for x up to 0: the square of a root, which is normal where its square is not.
OPCAST_DEVICE float ShortExp(float x) {
  const float root = opcast::FastExp2(kLog2E / 2 * x);
  return root * root;
}

// x times a gate: number * root * root. The root is normal where its square is not.
struct ShortGated {
  float number, root;

  OPCAST_DEVICE float Times(float other) const { return number * root * other * root; }
  OPCAST_DEVICE float Value() const { return number * root * root; }
};

// x times `above` if it is not negative, else times below * root^2. Below -end, where products with
// any number of 16 bits are 0, the number is -end; but -infinity gives NaN, as infinity times zero.
OPCAST_DEVICE ShortGated ShortGatedOf(float x, float end, float above, float below, float root) {
  const float bounded = x < -kLargest ? NAN : x < -end ? -end : x;
  return {bounded * (x < 0 ? below : above), x < 0 ? root : 1};
}

// Silu: the gate 1 / (1 + e^-x).
struct ShortLogistic {
  static constexpr float kEnd = 190;

  OPCAST_DEVICE static ShortGated Of(float x) { return Times(x, x, kEnd); }

  // x times the gate of a number that has its sign. Below -end, x is -end.
  OPCAST_DEVICE static ShortGated Times(float x, float number, float end) {
    const float fourth = opcast::FastExp2(-kLog2E / 4 * fminf(fabsf(number), kEnd));
    const float root = fourth * fourth, inverse = opcast::FastInverse(fmaf(root, root, 1));
    return ShortGatedOf(x, end, inverse, inverse, root);
  }
};

// The tanh form of gelu: the gate 1 / (1 + e^-u(x)) with u(x) = k (x + c x^3).
struct ShortCubicLogistic {
  OPCAST_DEVICE static ShortGated Of(float x) {
    constexpr float kEnd = 13.6f, kFourth = -0x1.26aec2p-1f,
                    kCubic = -0x1.a5a7dp-6f;  // of -u log2(e) / 4
    const float a = fminf(fabsf(x), kEnd);
    const float fourth = opcast::FastExp2(a * fmaf(a * a, kCubic, kFourth)), root = fourth * fourth;
    const float inverse = opcast::FastInverse(fmaf(root, root, 1));
    return ShortGatedOf(x, kEnd, inverse, inverse, root);
  }
};

// Gelu: the gate is the normal distribution function, at -a e^(-a^2 / 2) times a polynomial in
// 1 / (1 + p a) that is fitted for 0 <= a <= 14.3, and off by 3e-4 at 20.
struct ShortNormal {
  OPCAST_DEVICE static ShortGated Of(float x) {
    constexpr float kEnd = 20, kSlope = 0x1.733334p-2f;
    const float a = fminf(fabsf(x), kEnd);
    const float fourth = opcast::FastExp2(a * a * (-kLog2E / 8)), root = fourth * fourth;
    const float factor = Polynomial({-0x1.91761cp-4f, 0x1.f997d8p-3f, 0x1.59faf2p-5f,
                                     0x1.56599ep-3f, 0x1.21f366p-3f, 0x1.506bc2p-13f},
                                    opcast::FastInverse(fmaf(kSlope, a, 1)));
    return ShortGatedOf(x, kEnd, 1 - factor * root * root, factor, root);
  }
};

}  // namespace opcast_ops
