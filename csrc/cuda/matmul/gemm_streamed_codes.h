// Numbers of 8 and 4 bits as pairs of 16 bits that tensor cores multiply, exactly.
#pragma once

#include <cuda_fp8.h>

#include "cuda/matmul/gemm_streamed.h"

namespace opcast_ops {

// The difference of two pairs.
template <class T>
OPCAST_DEVICE uint32_t Minus(uint32_t a, uint32_t b) {
  uint32_t c;
  if constexpr (std::is_same_v<T, opcast::f16>) {
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  } else {
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(c) : "r"(b), "r"(0xbf80bf80u), "r"(a));  // a - 1 * b
  }
  return c;
}

// Four numbers in one register, as f16: an int8 x is 1024 + (x + 128) less 1152.
OPCAST_DEVICE void Widen(uint32_t codes, int8_t, uint32_t* to) {
  const uint32_t biased = codes ^ 0x80808080u;
  to[0] = Minus<opcast::f16>(__byte_perm(biased, 0x64646464u, 0x4140), 0x64806480u);
  to[1] = Minus<opcast::f16>(__byte_perm(biased, 0x64646464u, 0x4342), 0x64806480u);
}
OPCAST_DEVICE void Widen(uint32_t codes, opcast::f8e4m3fn, uint32_t* to) {
  OPCAST_UNROLL
  for (int i = 0; i < 2; ++i) {
    const __half2_raw pair =
        __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(codes >> (16 * i)), __NV_E4M3);
    to[i] = uint32_t{pair.y} << 16 | pair.x;
  }
}

// 16 numbers of 8 bits, which lie side by side.
template <class Q>
OPCAST_DEVICE Piece<8> WidenPiece(const uint4& codes) {
  Piece<8> piece;
  Widen(codes.x, Q(), piece.at);
  Widen(codes.y, Q(), piece.at + 2);
  Widen(codes.z, Q(), piece.at + 4);
  Widen(codes.w, Q(), piece.at + 6);
  return piece;
}

// What both products of 8 bits have in common: both factors have rows of so many numbers of Q.
template <class Q>
struct ByteFactors {
  using Number = opcast::f16;
  static constexpr int kPairs = 8, kTiles = 2;
  using Codes = uint4;
  struct Zero {};

  StreamedRows a, b;
  int64_t units, steps;  // of 64 terms

  OPCAST_DEVICE Piece<8> Left(int64_t row, int64_t step, int t) const {
    return WidenPiece<Q>(Load16(a.Row(row) + step * 64 + t * 16));
  }
  OPCAST_DEVICE uint4 Right(int64_t row, int64_t step, int t) const {
    return LoadOnce(b.Row(row) + step * 64 + t * 16);
  }
  OPCAST_DEVICE Zero ZeroOf(int64_t, int64_t) const { return {}; }
  OPCAST_DEVICE Piece<8> Numbers(const uint4& codes, Zero) const { return WidenPiece<Q>(codes); }
};

// Codes of 4 bits become so many times what they are, so that products with the largest numbers of
// bfloat16 have room in float.
template <class T>
constexpr float kDown = std::is_same_v<T, opcast::f16> ? 1.0f : 0x1p-8f;

// 32 codes of 4 bits, times kDown, less a pair of numbers that stand for zero; exact for zeros up
// to 255 * kDown.
template <class T>
OPCAST_DEVICE Piece<16> CodesLess(const uint4& codes, uint32_t zero) {
  // 1024, or 0.5 for bfloat16: the lowest four bits are those of a code that is added.
  constexpr uint32_t kBase = std::is_same_v<T, opcast::f16> ? 0x64006400u : 0x3f003f00u;
  const uint32_t words[4] = {codes.x, codes.y, codes.z, codes.w};
  Piece<16> piece;
  OPCAST_UNROLL
  for (int w = 0; w < 4; ++w) {
    const uint32_t even = words[w] & 0x0f0f0f0fu, odd = words[w] >> 4 & 0x0f0f0f0fu;
    OPCAST_UNROLL
    for (int i = 0; i < 4; ++i) {
      const uint32_t pair = __byte_perm(even, odd, 0x4400 + i * 0x1111) & 0x000f000fu;
      piece.at[4 * w + i] = Minus<T>(Minus<T>(pair | kBase, kBase), zero);
    }
  }
  return piece;
}

}  // namespace opcast_ops
