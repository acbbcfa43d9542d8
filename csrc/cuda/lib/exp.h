// The exponential function in float arithmetic, within one unit in the last place and with the same
// bits on every GPU. Double is many times slower, even where it is fast.
#pragma once

#include <cstdint>

#include "cuda/lib/float_pairs.h"
#include "opcast/device.h"
#include "opcast/minifloat.h"

namespace opcast_ops {

// The sum of the coefficients times powers of t, the highest first.
template <int kCount>
OPCAST_DEVICE float Polynomial(const float (&coefficients)[kCount], float t) {
  float sum = coefficients[0];
  OPCAST_UNROLL
  for (int i = 1; i < kCount; ++i) sum = fmaf(sum, t, coefficients[i]);
  return sum;
}

// 2^n for n from -149 to 127; the lowest are denormal.
OPCAST_DEVICE float PowerOfTwo(int n) {
  const uint32_t normal = static_cast<uint32_t>(n + 127) << 23;
  return opcast::detail::FromBits(n >= -126 ? normal : uint32_t{1} << ((n + 149) & 31));
}

// fraction * 2^power, which may lie outside of float's range: then it may still come back by a
// product with another number.
struct Scaled {
  float fraction;
  int power;  // from -290 to 254

  OPCAST_DEVICE float Value() const { return Times(1); }

  // The product with numbers of any size. The first power of two makes nothing denormal that the
  // whole product does not, but for products of numbers near the ends of float's range.
  OPCAST_DEVICE float Times(float a, float b = 1) const {
    const int half = power / 2;
    return fraction * PowerOfTwo(half) * a * b * PowerOfTwo(power - half);
  }

  // The product with two numbers of any size, for a power of at most 0, as if it were rounded once:
  // what is above 2^60 of them is multiplied last.
  OPCAST_DEVICE float TimesBoth(float a, float b) const {
    const int half = power / 2;
    int last = power - half;
    if (fabsf(a) >= 0x1p60f) a *= 0x1p-60f, last += 60;
    if (fabsf(b) >= 0x1p60f) b *= 0x1p-60f, last += 60;
    const float first = fraction * PowerOfTwo(half), some = first * a, all = some * b;
    const float lost = fmaf(fmaf(first, a, -some), b, fmaf(some, b, -all));
    return (fabsf(all) <= kLargest ? all + lost : all) * PowerOfTwo(last);
  }
};

// x, or the end of [-limit, limit] that is nearest to it; NaN stays.
OPCAST_DEVICE float Clamp(float x, float limit) {
  return x < -limit ? -limit : x > limit ? limit : x;
}

// (1 + less_one) * 2^power: a power of e whose fraction is between 0.7 and 1.5.
struct Power {
  float less_one;
  int power;

  OPCAST_DEVICE float Value() const { return Times(1).Value(); }
  OPCAST_DEVICE Scaled Times(float factor) const { return {fmaf(factor, less_one, factor), power}; }
};

// e^(x + rest) for x up to 170 and a rest that is small beside x or 1. Below -200 it is that of
// -200: the product with any other float is 0 all the same.
OPCAST_DEVICE Power Exp(float x, float rest = 0) {
  constexpr float kLog2E = 0x1.715476p0f, kLn2High = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;
  constexpr float kRounder = 0x1.8p23f;  // added to a small number, it rounds that to an integer
  const float nearby = x < -200 ? -200 : x;
  const float shifted = fmaf(nearby, kLog2E, kRounder), n = shifted - kRounder;
  // nearby = n ln 2 + r with |r| < 0.35.
  const float r = fmaf(n, -kLn2Low, fmaf(n, -kLn2High, nearby)) + rest;
  // The series r + r^2 / 2 + ..., its coefficients changed so that six of them reach 2^-28.
  float q = 0x1.a12718p-13f;
  q = fmaf(q, r, 0x1.6d459p-10f);
  q = fmaf(q, r, 0x1.1110ep-7f);
  q = fmaf(q, r, 0x1.5554e8p-5f);
  q = fmaf(q, r, 0x1.555556p-3f);
  q = fmaf(q, r, 0.5f);
  using opcast::detail::Bits;
  return {fmaf(r * r, q, r), static_cast<int>(Bits(shifted) - Bits(kRounder))};
}

// e^x - 1 for x up to 88.
OPCAST_DEVICE float ExpLessOne(float x) {
  const Power e = Exp(x);
  return e.power == 0 ? e.less_one : e.Value() - 1;
}

}  // namespace opcast_ops
