// Numbers as codes of 8 bits: x / scale, limited and rounded to nearest, ties to even.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "common/quant_limits.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

// The codes of the elements of a Vector<T>.
template <class T, class Q>
struct alignas(Vector<T>::kSize) Codes {
  Q at[Vector<T>::kSize];
};

template <bool kWhole, class T, class Q>
OPCAST_DEVICE Codes<T, Q> LoadCodes(const Q* array, int64_t begin, int64_t n) {
  if constexpr (kWhole) {
    return *reinterpret_cast<const Codes<T, Q>*>(array + begin);
  } else {
    Codes<T, Q> codes;
    OPCAST_UNROLL
    for (int e = 0; e < Vector<T>::kSize; ++e)
      codes.at[e] = begin + e < n ? array[begin + e] : static_cast<Q>(0.0f);
    return codes;
  }
}

template <bool kWhole, class T, class Q>
OPCAST_DEVICE void StoreCodes(const Codes<T, Q>& codes, Q* array, int64_t begin, int64_t n) {
  if constexpr (kWhole) {
    *reinterpret_cast<Codes<T, Q>*>(array + begin) = codes;
  } else {
    OPCAST_UNROLL
    for (int e = 0; e < Vector<T>::kSize; ++e) {
      if (begin + e < n) array[begin + e] = codes.at[e];
    }
  }
}

template <class T, class Q>
OPCAST_DEVICE Floats<T> Widen(const Codes<T, Q>& codes) {
  Floats<T> floats;
  OPCAST_UNROLL
  for (int e = 0; e < Floats<T>::kSize; e += 2) {
    if constexpr (std::is_same_v<Q, int8_t>) {
      floats.at[e] = codes.at[e];
      floats.at[e + 1] = codes.at[e + 1];
    } else {
      opcast::Widen(&codes.at[e], &floats.at[e], &floats.at[e + 1]);
    }
  }
  return floats;
}

// Divides by a scale, mostly as one division of floats would: a quotient that is a float is exact,
// so that ties go to even. The remainder corrects what the inverse lacks.
struct ScaleDivision {
  float scale, factor, inverse;

  // The factor keeps the inverse in the range of floats.
  OPCAST_DEVICE static ScaleDivision By(float scale) {
    const float magnitude = fabsf(scale);
    const float factor = magnitude < 0x1p-64f ? 0x1p64f : magnitude > 0x1p64f ? 0x1p-64f : 1;
    return {scale, factor, opcast::FastInverse(scale * factor)};
  }
  OPCAST_DEVICE float Of(float x) const {
    const float quotient = x * factor * inverse;
    const float rest = fmaf(-quotient, scale * factor, x * factor);
    return fabsf(rest) <= kLargest ? fmaf(rest, inverse, quotient) : quotient;
  }
};

// The code of one number for int8. NaN become 0. Near a tie, the quotient is computed again.
OPCAST_DEVICE int8_t RoundedQuotient(float x, const ScaleDivision& division) {
  const float quotient = division.Of(x);
  float value = rintf(quotient);
  if (fabsf(fabsf(quotient - value) - 0.5f) < 0x1p-12f)
    value = static_cast<float>(rint(static_cast<double>(x) / static_cast<double>(division.scale)));
  if (value != value) value = 0;
  return static_cast<int8_t>(fminf(fmaxf(value, -kMost<int8_t>), kMost<int8_t>));
}

template <class Q, class T>
OPCAST_DEVICE Codes<T, Q> Quantised(const Floats<T>& x, const ScaleDivision& division) {
  Codes<T, Q> codes;
  OPCAST_UNROLL
  for (int e = 0; e < Floats<T>::kSize; e += 2) {
    if constexpr (std::is_same_v<Q, int8_t>) {
      codes.at[e] = RoundedQuotient(x.at[e], division);
      codes.at[e + 1] = RoundedQuotient(x.at[e + 1], division);
    } else {
      opcast::NarrowFinite(division.Of(x.at[e]), division.Of(x.at[e + 1]), &codes.at[e]);
    }
  }
  return codes;
}

}  // namespace opcast_ops
