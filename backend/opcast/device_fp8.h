// Numbers of 8 bits in kernels for GPUs; device.h includes it.
#pragma once

#include "opcast/types.h"

namespace opcast {

// Rounds two floats to neighbouring elements. Beyond the largest finite number they become that
// one; NaN stays.
template <class T>
OPCAST_DEVICE void NarrowFinite(float first, float second, T* to) {
  T largest;
  largest.bits = T::kFirstSpecial - 1;
  const float most = largest;
  to[0] = static_cast<T>(first > most ? most : first < -most ? -most : first);
  to[1] = static_cast<T>(second > most ? most : second < -most ? -most : second);
}

// Two neighbouring elements as floats.
template <class T>
OPCAST_DEVICE void Widen(const T* from, float* first, float* second) {
  *first = static_cast<float>(from[0]);
  *second = static_cast<float>(from[1]);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890

OPCAST_DEVICE void NarrowFinite(float first, float second, f8e4m3fn* to) {
  unsigned short both;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %2, %1;" : "=h"(both) : "f"(first), "f"(second));
  to[0].bits = static_cast<unsigned char>(both);
  to[1].bits = static_cast<unsigned char>(both >> 8);
}

OPCAST_DEVICE void Widen(const f8e4m3fn* from, float* first, float* second) {
  const unsigned both = from[0].bits | static_cast<unsigned>(from[1].bits) << 8;
  unsigned halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<unsigned short>(both)));
  *first = __half2float(__ushort_as_half(static_cast<unsigned short>(halves)));
  *second = __half2float(__ushort_as_half(static_cast<unsigned short>(halves >> 16)));
}

#endif

}  // namespace opcast
