// What a lane of a packed row holds, and how lanes are multiplied: here a float, and in
// gemm_bf16_pairs.h two bfloat16.
#pragma once

#include <cstdint>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/float_vectors.h"

namespace opcast_ops {

// A vector of kWidth bytes. Only used in place, as those of float_vectors.h.
template <int kWidth>
using Vector __attribute__((vector_size(kWidth), aligned(alignof(float)), may_alias)) = float;

// *sum += a * b, rounded once where the machine can.
inline void MultiplyAdd(const Vector<16>& a, const Vector<16>& b, Vector<16>* sum) {
  *sum += a * b;
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void MultiplyAdd(const Vector<32>& a,
                                                             const Vector<32>& b, Vector<32>* sum) {
  *sum = _mm256_fmadd_ps(a, b, *sum);
}
__attribute__((target(OPCAST_AVX512))) inline void MultiplyAdd(const Vector<64>& a,
                                                               const Vector<64>& b,
                                                               Vector<64>* sum) {
  *sum = _mm512_fmadd_ps(a, b, *sum);
}
#endif

// A float in each lane, made from numbers of any dtype.
struct Singles {
  static constexpr int kPerLane = 1;

  // Fills a vector with n numbers, and zeros behind them.
  template <int kWidth, class T>
  static void Copy(const T* from, int64_t n, float* to) {
    constexpr int64_t kLanes = kWidth / sizeof(float);
    if (n >= kLanes) return Whole<kWidth>(from, reinterpret_cast<Vector<kWidth>*>(to));
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
    for (int64_t i = n; i < kLanes; ++i) to[i] = 0;
  }

  // Fills a vector with the numbers of the lines that meet in a lane, from `row` on.
  template <int kWidth, class T>
  static void CopyLines(const T* const* lines, int64_t row, Vector<kWidth>* to) {
    Whole<kWidth>(lines[0] + row, to);
  }

  template <int kWidth>
  static void Multiply(const Vector<kWidth>& a, const Vector<kWidth>& b, Vector<kWidth>* sum) {
    MultiplyAdd(a, b, sum);
  }

 private:
  // Fills a vector. Compilers do not know that it does not overlap with floats elsewhere.
  template <int kWidth, class T>
  static void Whole(const T* from, Vector<kWidth>* to) {
    if constexpr (std::is_same_v<T, float>) {
      *to = *reinterpret_cast<const Vector<kWidth>*>(from);
    } else {
      Widen<kWidth>(from, reinterpret_cast<float*>(to), kWidth / sizeof(float));
    }
  }
};

}  // namespace opcast_ops
