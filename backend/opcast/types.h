// Element types: the tags of dynamically typed data and the C++ types of kernels.
#pragma once

#include "dtypes.gen.h"
#include "opcast/complex.h"
#include "opcast/fp8.h"
#include "opcast/minifloat.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace opcast {

// A DLPack data type of one lane: type code << 8 | bits.
enum class DType : uint16_t {
#define OPCAST_DTYPE_ENUMERATOR(name, text, code, bits) name = (code) << 8 | (bits),
  OPCAST_DTYPES(OPCAST_DTYPE_ENUMERATOR)
#undef OPCAST_DTYPE_ENUMERATOR
};

#if defined(__CUDACC__)

using f16 = __half;
using bf16 = __nv_bfloat16;

#else

#if defined(__HIPCC__)

using f16 = _Float16;  // GPUs compute with it, and so do CPUs with a compiler that knows HIP

#else

// IEEE binary16.
struct f16 {
  uint16_t bits;

  f16() = default;
  explicit f16(float value) {
    const uint32_t wide = detail::Bits(value), magnitude = wide & 0x7fffffff, sign = wide >> 16;
    const uint32_t narrow = detail::Narrow<10, 15>(magnitude);
    const uint32_t finite = narrow < 0x7c00 ? narrow : 0x7c00;
    const uint32_t code = detail::Select(magnitude > detail::kFloatInf, 0x7e00, finite);
    bits = static_cast<uint16_t>(code | (sign & 0x8000));
  }
  operator float() const {
    const uint32_t sign = (bits & 0x8000u) << 16, magnitude = bits & 0x7fffu;
    const uint32_t special = magnitude >= 0x7c00 ? detail::kFloatInf : 0;
    return detail::FromBits(detail::Widen<10, 15>(magnitude) | special | sign);
  }
};

#endif

// The upper half of a float.
struct bf16 {
  uint16_t bits;

  bf16() = default;
  OPCAST_HOST_DEVICE explicit bf16(float value) {
    const uint32_t wide = detail::Bits(value);
    const uint32_t rounded = (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
    const uint32_t nan =
        wide >> 16 | 0x40;  // keeps the sign, and a set mantissa bit though the payload is cut
    bits = static_cast<uint16_t>((wide & 0x7fffffff) > detail::kFloatInf ? nan : rounded);
  }
  OPCAST_HOST_DEVICE operator float() const { return detail::FromBits(uint32_t{bits} << 16); }
};

#endif

// Builds that are not optimised, those with sanitizers and emulated devices check what others take
// on trust. nvcc defines __OPTIMIZE__ for the CPU's part only.
#if defined(OPCAST_EMULATOR) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(__CUDACC_DEBUG__) || (!defined(__CUDACC__) && !defined(__OPTIMIZE__))
#define OPCAST_CHECKED 1
#else
#define OPCAST_CHECKED 0
#endif

// A position or count as a smaller integer, which the definition promises that it fits (by min and
// max of what the kernel writes). Where OPCAST_CHECKED is 1, one that does not ends the program.
template <class To, class From>
OPCAST_HOST_DEVICE constexpr To Narrow(From value) {
#if OPCAST_CHECKED
  if (static_cast<From>(static_cast<To>(value)) != value ||
      (static_cast<To>(value) < To{}) != (value < From{})) {
#if defined(__CUDA_ARCH__)
    __trap();
#else
    __builtin_trap();
#endif
  }
#endif
  return static_cast<To>(value);
}

}  // namespace opcast
