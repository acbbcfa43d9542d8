// Conversions between the dtypes of arrays and double, in which the kernels compute.
#pragma once

#include <cmath>
#include <cstdint>

namespace museum_ops {

template <class T>
double Widen(T x) {
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
T Narrow(double x) {
  return static_cast<T>(static_cast<float>(x));
}

// The largest magnitude of n numbers, NaN if one is NaN.
template <class T>
double LargestMagnitude(const T* x, int64_t n) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double magnitude = std::fabs(Widen(x[i]));
    if (!(magnitude <= largest) && !std::isnan(largest)) largest = magnitude;
  }
  return largest;
}

}  // namespace museum_ops
