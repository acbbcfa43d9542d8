// Complex numbers of kernels, the same on the CPU and on GPUs; in memory, two numbers as
// std::complex has them.
#pragma once

#include <complex>
#include <type_traits>

#include "opcast/minifloat.h"

namespace opcast {

// A complex number. Products and quotients follow the formulas, also where these give NaN:
// std::complex and NumPy may have an infinity there.
template <class T>
struct Complex {
  T re, im;

  Complex() = default;
  OPCAST_HOST_DEVICE constexpr Complex(T real, T imaginary = 0) : re(real), im(imaginary) {}
  template <class From, std::enable_if_t<(sizeof(From) < sizeof(T)), int> = 0>
  OPCAST_HOST_DEVICE constexpr Complex(Complex<From> z) : re(z.re), im(z.im) {}
  template <class From, std::enable_if_t<(sizeof(From) > sizeof(T)), int> = 0>
  OPCAST_HOST_DEVICE explicit constexpr Complex(Complex<From> z)
      : re(static_cast<T>(z.re)), im(static_cast<T>(z.im)) {}
  Complex(std::complex<T> z) : re(z.real()), im(z.imag()) {}
  operator std::complex<T>() const { return {re, im}; }

  OPCAST_HOST_DEVICE constexpr Complex operator-() const { return {-re, -im}; }
  OPCAST_HOST_DEVICE constexpr Complex& operator+=(Complex b) { return *this = *this + b; }
  OPCAST_HOST_DEVICE constexpr Complex& operator-=(Complex b) { return *this = *this - b; }
  OPCAST_HOST_DEVICE constexpr Complex& operator*=(Complex b) { return *this = *this * b; }
  OPCAST_HOST_DEVICE constexpr Complex& operator/=(Complex b) { return *this = *this / b; }

  // Friends, so that a number that is real can stand on either side.
  OPCAST_HOST_DEVICE friend constexpr Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  OPCAST_HOST_DEVICE friend constexpr Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
  }
  OPCAST_HOST_DEVICE friend constexpr Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  OPCAST_HOST_DEVICE friend constexpr Complex operator/(Complex a, Complex b) {
    const bool wide = (b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im);
    const T ratio = wide ? b.im / b.re : b.re / b.im;  // at most 1: its square does not overflow
    const T scale = 1 / (wide ? b.re + b.im * ratio : b.re * ratio + b.im);
    return wide ? Complex{(a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale}
                : Complex{(a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale};
  }
  OPCAST_HOST_DEVICE friend constexpr bool operator==(Complex a, Complex b) {
    return a.re == b.re && a.im == b.im;
  }
  OPCAST_HOST_DEVICE friend constexpr bool operator!=(Complex a, Complex b) { return !(a == b); }
};

using c64 = Complex<float>;
using c128 = Complex<double>;

// The conjugate; a real number is its own.
template <class T>
OPCAST_HOST_DEVICE constexpr Complex<T> Conj(Complex<T> z) {
  return {z.re, -z.im};
}
OPCAST_HOST_DEVICE constexpr float Conj(float x) { return x; }
OPCAST_HOST_DEVICE constexpr double Conj(double x) { return x; }

// The square of the absolute value, as std::norm.
template <class T>
OPCAST_HOST_DEVICE constexpr T Norm(Complex<T> z) {
  return z.re * z.re + z.im * z.im;
}
OPCAST_HOST_DEVICE constexpr float Norm(float x) { return x * x; }
OPCAST_HOST_DEVICE constexpr double Norm(double x) { return x * x; }

}  // namespace opcast
