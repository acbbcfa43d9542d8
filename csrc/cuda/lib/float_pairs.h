// Numbers as pairs of floats: twice the precision, where double is slow.
#pragma once

#include <cmath>

#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

// high + low, where low is small beside high.
struct Pair {
  float high, low;
};

OPCAST_HOST_DEVICE inline Pair PairOf(double value) {
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

// Sums for which low collects all that high loses: a step of a long sum. It is commutative in all
// bits. Settle makes a number of the sum.
OPCAST_DEVICE Pair operator+(Pair a, float b) {
  const Pair sum = Add(a.high, b);
  return {sum.high, a.low + sum.low};
}
OPCAST_DEVICE Pair operator+(Pair a, Pair b) {
  const Pair sum = Add(a.high, b.high);
  return {sum.high, (a.low + b.low) + sum.low};
}
OPCAST_DEVICE Pair Settle(Pair a) {
  if (!(fabsf(a.high) <= kLargest)) return {a.high, 0};  // then low is NaN
  const float high = a.high + a.low;
  return {high, a.low - (high - a.high)};
}

// 1 / sqrt(a), with a relative error of some 2^-45: one of Newton's steps from the float.
OPCAST_DEVICE Pair InverseRoot(Pair a) {
  const float inverse = 1 / sqrtf(a.high);
  if (!(inverse > 0 && inverse <= kLargest)) return {inverse, 0};
  const Pair root = Multiply(a.high, inverse);
  const float rest = fmaf(-root.high, inverse, 1) - fmaf(a.low, inverse, root.low) * inverse;
  return {inverse, 0.5f * inverse * rest};
}

// For opcast::WarpReduce.
OPCAST_DEVICE Pair ShuffleXor(Pair value, int mask, int width) {
  return {opcast::ShuffleXor(value.high, mask, width), opcast::ShuffleXor(value.low, mask, width)};
}

}  // namespace opcast_ops
