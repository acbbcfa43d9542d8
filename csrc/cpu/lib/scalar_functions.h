// Functions of one number that loops can vectorise: no branches, no tables, no calls.
//
// A product and a sum that are to be rounded once are written as Fma, since compilers would fuse
// some and not others. So a number gives the same bits in a vector as in the rest behind it.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "opcast/minifloat.h"

namespace opcast_ops {

// condition ? a : b without a branch, for the same reason as opcast::detail::Select.
inline float Select(bool condition, float a, float b) {
  namespace bits = opcast::detail;
  return bits::FromBits(bits::Select(condition, bits::Bits(a), bits::Bits(b)));
}
inline double Select(bool condition, double a, double b) {
  const uint64_t mask = uint64_t{0} - uint64_t{condition};
  uint64_t a_bits, b_bits;
  std::memcpy(&a_bits, &a, sizeof a);
  std::memcpy(&b_bits, &b, sizeof b);
  a_bits = (a_bits & mask) | (b_bits & ~mask);
  std::memcpy(&a, &a_bits, sizeof a);
  return a;
}

// a where the sign of x is set, b elsewhere. What compares numbers goes through the registers of
// masks, from which AVX-512 machines take a dozen cycles to come back.
inline float SelectBySign(float x, float a, float b) {
  namespace bits = opcast::detail;
  const auto mask = static_cast<uint32_t>(static_cast<int32_t>(bits::Bits(x)) >> 31);
  return bits::FromBits((bits::Bits(a) & mask) | (bits::Bits(b) & ~mask));
}

// y with the sign of x set where that of x is.
inline float OrSign(float y, float x) {
  namespace bits = opcast::detail;
  return bits::FromBits(bits::Bits(y) | (bits::Bits(x) & 0x80000000u));
}

// The smaller one. Written as plainly as this, without a cast or a reference, it is one instruction
// for compilers; otherwise two limits of one number become jumps, and loops stay scalar.
template <class Integer>
inline Integer Smaller(Integer a, Integer b) {
  return a < b ? a : b;
}

// The bits of x as an integer that is negative where the sign of x is set.
inline int32_t SignBits(float x) { return static_cast<int32_t>(opcast::detail::Bits(x)); }

// A number that is negative where |x| is above `most`, or x is NaN.
inline int32_t SignOfMore(float x, float most) {
  return SignBits(most) - SignBits(__builtin_fabsf(x));
}

// A number that is negative where a condition does not hold. Made of SignBits, it takes no
// comparison: AVX-512 machines have the same units for comparisons and for multiplications.
inline int32_t SignUnless(bool holds) { return int32_t{holds} - 1; }

// |x|, but at most `most`, which NaN become, too: integers say the same of numbers without a sign.
inline float Magnitude(float x, float most) {
  namespace bits = opcast::detail;
  const auto all = static_cast<int32_t>(bits::Bits(x) & 0x7fffffffu);
  const auto bound = static_cast<int32_t>(bits::Bits(most));
  return bits::FromBits(static_cast<uint32_t>(Smaller(all, bound)));
}

// x, but at least `least` and at most `most`, for least < 0 < most; NaN become one of these. Seen
// as signed integers, negative numbers are below all others; as unsigned ones, above them.
inline float Clamp(float x, float least, float most) {
  namespace bits = opcast::detail;
  const auto all = static_cast<int32_t>(bits::Bits(x));
  const auto bound = static_cast<int32_t>(bits::Bits(most));
  const auto below = static_cast<uint32_t>(Smaller(all, bound));
  return bits::FromBits(Smaller(below, bits::Bits(least)));
}

// The one rounding of a result, float or double. All NaN become one: which of its operands' NaN an
// instruction hands on depends on the order that the compiler gave them, here in a vector loop and
// there in its scalar rest.
template <class T, class V>
inline T Round(V value) {
  const float rounded = static_cast<float>(value);
  return static_cast<T>(
      Select(rounded == rounded, rounded, std::numeric_limits<float>::quiet_NaN()));
}

// Whether machines with vectors of kWidth bytes have instructions for a * b + c in one rounding.
// SSE2 stands for x86 without them; other machines' baselines have them.
#if defined(__x86_64__) && !defined(__FMA__)
template <int kWidth>
constexpr bool kFuses = kWidth > 16;
#else
template <int kWidth>
constexpr bool kFuses = true;
#endif

// a * b + c, rounded once. Without instructions for it, the product is exact all the same, and the
// sum is rounded to double before it is rounded to float.
template <int kWidth>
inline float Fma(float a, float b, float c) {
  if constexpr (kFuses<kWidth>) {
    return __builtin_fmaf(a, b, c);
  } else {
    return static_cast<float>(static_cast<double>(a) * b + c);
  }
}

// a * b + c. Without instructions for it, the product is rounded too.
template <int kWidth>
inline double Fma(double a, double b, double c) {
  if constexpr (kFuses<kWidth>) {
    return __builtin_fma(a, b, c);
  } else {
    return a * b + c;
  }
}

// A double as the sum of two floats.
struct TwoFloats {
  float high, low;

  // Of a value in the range of floats.
  explicit constexpr TwoFloats(double value)
      : high(static_cast<float>(value)), low(static_cast<float>(value - high)) {}

  // x minus both, to an ulp however much cancels: where it does, the first difference is exact.
  float SubtractFrom(float x) const { return (x - high) - low; }
};

// The value at x of a polynomial, whose coefficients begin with that of the highest power.
template <int kWidth, class V, class... Vs>
inline V Polynomial(V x, V highest, Vs... others) {
  V sum = highest;
  ((sum = Fma<kWidth>(sum, x, others)), ...);
  return sum;
}

// The same from two sums of half the length in the square of x, which do not wait for each other: a
// rounding more, and 2/3 of the time where nothing else is to be done meanwhile.
template <int kWidth, size_t kLast, size_t... kPlaces>
inline float EveryOther(float square, const float* coefficients, std::index_sequence<kPlaces...>) {
  return Polynomial<kWidth>(square,
                            coefficients[kLast - 2 * (sizeof...(kPlaces) - 1 - kPlaces)]...);
}
template <int kWidth, size_t kCount>
inline float SplitPolynomial(float x, const float (&coefficients)[kCount]) {
  const float square = x * x;
  const float even = EveryOther<kWidth, kCount - 1>(square, coefficients,
                                                    std::make_index_sequence<(kCount + 1) / 2>());
  const float odd =
      EveryOther<kWidth, kCount - 2>(square, coefficients, std::make_index_sequence<kCount / 2>());
  return Fma<kWidth>(odd, x, even);
}

// What the float sum of a and b lacks, exactly, as in Knuth's TwoSum.
inline float Lack(float a, float b, float sum) {
  const float back = sum - a;
  return (a - (sum - back)) + (b - back);
}

}  // namespace opcast_ops
