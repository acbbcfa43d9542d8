// Numbers as pairs of floats: twice the precision, where double is slow.
#pragma once

#include "opcast/device.h"
#include "vectors.h"

namespace opcast_ops {

// high + low, where high is the float nearest to the sum.
struct Pair {
  float high, low;
};

OPCAST_DEVICE Pair PairOf(double value) {
  const float high = static_cast<float>(value);
  return {high, fabsf(high) <= kLargest ? static_cast<float>(value - high) : 0.0f};
}

// a + b and a * b, exact unless something overflows or what is left is below the smallest float.
OPCAST_DEVICE Pair Add(float a, float b) {
  const float sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}
OPCAST_DEVICE Pair Multiply(float a, float b) {
  const float product = a * b;
  return {product, fmaf(a, b, -product)};
}

// The same for pairs, with a relative error of some 2^-46.
OPCAST_DEVICE Pair Multiply(Pair a, Pair b) {
  const Pair product = Multiply(a.high, b.high);
  return {product.high, fmaf(a.high, b.low, fmaf(a.low, b.high, product.low))};
}

}  // namespace opcast_ops
