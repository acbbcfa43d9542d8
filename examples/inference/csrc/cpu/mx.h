// The formats of OCP's Microscaling specification: 32 numbers share a power of two.
#pragma once

#include <algorithm>
#include <cmath>

#include "numbers.h"

namespace inference_ops {

// Writes the power of two that a group shares, which leaves the largest number from 2^top on below
// 2^(top + 1), and returns its exponent. It is NaN if a number is not finite.
template <class T>
int ShareScale(const T* x, int top, opcast::f8e8m0fnu* scale) {
  float largest = 0;
  bool finite = true;
  for (int i = 0; i < 32; ++i) {
    const auto v = static_cast<float>(x[i]);
    finite = finite && std::isfinite(v);
    largest = std::max(largest, std::fabs(v));
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  exponent = largest > 0 ? std::max(exponent - 1 - top, -127) : -127;
  *scale = opcast::f8e8m0fnu(finite ? std::ldexp(1.0f, exponent) : NAN);
  return exponent;
}

}  // namespace inference_ops
