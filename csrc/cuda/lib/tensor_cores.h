// Instructions of NVIDIA's tensor cores and of the paths to them, for sm_80 and newer: matrices of
// 8 by 8 numbers of 16 bits from shared memory, products of 16 x 16 by 16 x 8, copies that fill up
// with zeros.
//
// Fragments of m16n8k16, by lane (g = lane / 4, t = lane % 4):
//
//   A[0] row g, columns 2t and 2t+1; A[1] row g+8; A[2] and A[3] the same of columns 8 further on
//
//   b0 rows 2t and 2t+1 of column g; b1 rows 2t+8 and 2t+9
//
//   C[0], C[1] row g, columns 2t and 2t+1; C[2], C[3] row g+8
//
// Only nvcc compiles this. The emulator does not know these instructions.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

// An address in shared memory as instructions take it.
OPCAST_DEVICE uint32_t SharedAddress(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// A number as if nobody knew it before: addresses that follow from it are computed where they are
// needed, and take no registers throughout a loop.
OPCAST_DEVICE int Anew(int number) {
  asm volatile("" : "+r"(number));
  return number;
}

// Four matrices; lanes 8i to 8i+7 give the addresses of the rows of matrix i.
OPCAST_DEVICE void LoadMatrices(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}
OPCAST_DEVICE void LoadTransposed(uint32_t (&to)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

// c += a * b, added up in float.
OPCAST_DEVICE void AddProduct(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                              opcast::bf16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
OPCAST_DEVICE void AddProduct(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                              opcast::f16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
      "%9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Copies the first `bytes` of 16 bytes to shared memory, and zeros for the others. Nothing is read
// for 0 bytes.
OPCAST_DEVICE void CopyOrZero(uint32_t to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}

// 2^x, within 2 ulp; 0 for -inf.
OPCAST_DEVICE float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two numbers of 16 bits in one register, the first in the low half.
template <class T>
OPCAST_DEVICE uint32_t Pack(float first, float second) {
  T both[2];
  opcast::Narrow(first, second, both);
  uint32_t bits;
  __builtin_memcpy(&bits, both, 4);
  return bits;
}

}  // namespace opcast_ops
