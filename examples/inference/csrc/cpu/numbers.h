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

// The bits of a 4-bit number; a byte holds two, the first in its lower half.
inline uint8_t Nibble(const uint8_t* bytes, int64_t i) { return bytes[i / 2] >> i % 2 * 4 & 15; }

// Packs numbers of 4 bits into so many bytes; `code(i)` has the bits of number i.
template <class Code>
void Pack(uint8_t* bytes, int64_t count, const Code& code) {
  for (int64_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<uint8_t>(code(2 * i) | code(2 * i + 1) << 4);
  }
}

// A floating-point number of 4 bits.
inline double Packed(const uint8_t* bytes, int64_t i) {
  opcast::f4e2m1fn x;
  x.bits = Nibble(bytes, i);
  return x;
}

// An integer of 4 bits.
inline double PackedInteger(const uint8_t* bytes, int64_t i) { return (Nibble(bytes, i) ^ 8) - 8; }

}  // namespace inference_ops
