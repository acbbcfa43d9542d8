// Conversions between the dtypes of arrays and double, in which the kernels compute.
#pragma once

#include "opcast/kernel.h"

namespace inference_ops {

template <class T>
double Widen(T x) {
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
T Narrow(double x) {
  return static_cast<T>(static_cast<float>(x));
}

// A number of 4 bits, the first of a byte in its lower ones.
inline double Packed(const uint8_t* bytes, int64_t i) {
  opcast::f4e2m1fn x;
  x.bits = bytes[i / 2] >> i % 2 * 4 & 15;
  return x;
}

}  // namespace inference_ops
