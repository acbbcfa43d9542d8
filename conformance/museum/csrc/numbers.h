// Conversions between the dtypes of arrays and double, in which the kernels compute.
#pragma once

namespace museum_ops {

template <class T>
double Widen(T x) {
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
T Narrow(double x) {
  return static_cast<T>(static_cast<float>(x));
}

}  // namespace museum_ops
