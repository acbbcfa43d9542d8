// The floating-point types of 8 bits, and of 4. Values, overflow and NaN follow ml_dtypes, and so
// JAX.
#pragma once

#include "opcast/minifloat.h"

namespace opcast {
namespace detail {

// How an 8-bit format ends: kIeee has infinities; kFn has a NaN above its largest value and no
// infinity; kFnuz has one NaN, in the place of minus zero. Overflow gives infinity where there is
// one, else NaN.
enum class Fp8Kind { kIeee, kFn, kFnuz };

template <int kMantissa, int kBias, Fp8Kind kKind>
struct Fp8 {
  // Magnitude codes from kFirstSpecial up are infinity (kIeee, exactly it) or NaN.
  static constexpr uint32_t kFirstSpecial = kKind == Fp8Kind::kIeee ? 0x7c
                                            : kKind == Fp8Kind::kFn ? 0x7f
                                                                    : 0x80;
  static constexpr uint32_t kNan = kKind == Fp8Kind::kIeee ? 0x7e : kFirstSpecial;

  uint8_t bits;

  Fp8() = default;
  OPCAST_HOST_DEVICE explicit Fp8(float value) {
    const uint32_t wide = Bits(value), magnitude = wide & 0x7fffffff, sign = wide >> 24 & 0x80;
    // The largest finite value of every format is below 2^16, and the sum in Narrow needs finite
    // input.
    const uint32_t capped = magnitude < 0x47800000 ? magnitude : 0x47800000;
    uint32_t code = Narrow<kMantissa, kBias>(capped);
    code = code < kFirstSpecial ? code : kFirstSpecial;
    code = Select(magnitude > kFloatInf, kNan, code);
    const bool no_sign = kKind == Fp8Kind::kFnuz && (code == 0 || code == kNan);
    bits = static_cast<uint8_t>(code | Select(no_sign, 0, sign));
  }

  OPCAST_HOST_DEVICE operator float() const {
    const uint32_t sign = uint32_t{bits} >> 7 << 31, magnitude = bits & 0x7f;
    const uint32_t finite = Widen<kMantissa, kBias>(magnitude);
    if (kKind == Fp8Kind::kFnuz) return FromBits(Select(bits == kNan, kQuietNan, finite | sign));
    const bool infinite = kKind == Fp8Kind::kIeee && magnitude == kFirstSpecial;
    const uint32_t special = infinite ? kFloatInf : kQuietNan;
    return FromBits(Select(magnitude >= kFirstSpecial, special, finite) | sign);
  }
};

}  // namespace detail

using f8e4m3fn = detail::Fp8<3, 7, detail::Fp8Kind::kFn>;
using f8e4m3fnuz = detail::Fp8<3, 8, detail::Fp8Kind::kFnuz>;
using f8e5m2 = detail::Fp8<2, 15, detail::Fp8Kind::kIeee>;
using f8e5m2fnuz = detail::Fp8<2, 16, detail::Fp8Kind::kFnuz>;

// A power of two, 2^(bits - 127); 255 is NaN. Ties round up; zero and negative values have no code
// and become NaN. (Between 2^-127 and 2^-126 ml_dtypes always rounds up; this rounds to nearest.)
struct f8e8m0fnu {
  uint8_t bits;

  f8e8m0fnu() = default;
  OPCAST_HOST_DEVICE explicit f8e8m0fnu(float value) {
    const uint32_t wide = detail::Bits(value);
    const bool positive = wide - 1 < detail::kFloatInf - 1;
    // Code 0 is 2^-127, a denormal float with the fraction 0x400000.
    const uint32_t nearest = wide < 0x800000 ? wide >= 0x600000 : (wide + 0x400000) >> 23;
    bits = static_cast<uint8_t>(positive ? nearest : 0xff);
  }
  OPCAST_HOST_DEVICE operator float() const {
    const uint32_t normal = uint32_t{bits} << 23;
    return detail::FromBits(bits == 0 ? 0x400000 : bits == 0xff ? detail::kQuietNan : normal);
  }
};

// 0, 0.5, 1, 1.5, 2, 3, 4 and 6, and their negatives, in the lower four bits. Arrays pack them: see
// `packs` in definitions. What is larger than 6, and NaN, become 6.
struct f4e2m1fn {
  uint8_t bits;

  f4e2m1fn() = default;
  OPCAST_HOST_DEVICE explicit f4e2m1fn(float value) {
    const uint32_t wide = detail::Bits(value), magnitude = wide & 0x7fffffff;
    const uint32_t capped = magnitude < 0x40c00000 ? magnitude : 0x40c00000;  // 6
    bits = static_cast<uint8_t>(detail::Narrow<1, 1>(capped) | (wide >> 28 & 8));
  }
  OPCAST_HOST_DEVICE operator float() const {
    return detail::FromBits(detail::Widen<1, 1>(bits & 7) | uint32_t{bits} >> 3 << 31);
  }
};

}  // namespace opcast
