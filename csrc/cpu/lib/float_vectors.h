// Vectors of floats and doubles, of the width that a loop is being compiled for.
//
// They are passed by reference only: how to pass one by value would depend on the compiler's
// target, which is that of the loop around these functions, once they are part of it.
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/lib/scalar_functions.h"
#include "opcast/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opcast_ops {

template <int kWidth>
struct Floats {
  using Number = float;
  typedef float Vector __attribute__((vector_size(kWidth)));
  static constexpr int kCount = kWidth / static_cast<int>(sizeof(float));

  Vector all;

  void Load(const float* from) { std::memcpy(&all, from, sizeof all); }
  void Store(float* to) const { std::memcpy(to, &all, sizeof all); }
};

template <int kWidth>
struct Doubles;

template <int kWidth>
struct Doubles {
  using Number = double;
  typedef double Vector __attribute__((vector_size(kWidth)));
  static constexpr int kCount = kWidth / static_cast<int>(sizeof(double));

  Vector all;

  // Takes floats, as all arrays have them.
  void Load(const float* from) { LoadFloats(from, this); }
  void Store(double* to) const { std::memcpy(to, &all, sizeof all); }
};

inline void LoadFloats(const float* from, Doubles<16>* to) {
  const double both[] = {from[0], from[1]};
  std::memcpy(&to->all, both, sizeof both);
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void LoadFloats(const float* from, Doubles<32>* to) {
  to->all = _mm256_cvtps_pd(_mm_loadu_ps(from));
}
__attribute__((target(OPCAST_AVX512))) inline void LoadFloats(const float* from, Doubles<64>* to) {
  to->all = _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from));
}
#endif

// *sum += a * b, rounded once where the machine can.
inline void MultiplyAdd(const Doubles<16>& a, const Doubles<16>& b, Doubles<16>* sum) {
  for (int i = 0; i < a.kCount; ++i) sum->all[i] = Fma<16>(a.all[i], b.all[i], sum->all[i]);
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void MultiplyAdd(const Doubles<32>& a,
                                                             const Doubles<32>& b,
                                                             Doubles<32>* sum) {
  sum->all = _mm256_fmadd_pd(a.all, b.all, sum->all);
}
__attribute__((target(OPCAST_AVX512))) inline void MultiplyAdd(const Doubles<64>& a,
                                                               const Doubles<64>& b,
                                                               Doubles<64>* sum) {
  sum->all = _mm512_fmadd_pd(a.all, b.all, sum->all);
}
#endif

// to[i] = the numbers of two vectors, rounded, stored as one vector: a load of what two stores
// wrote waits until both have reached the cache.
inline void StoreFloats(const Doubles<16>& low, const Doubles<16>& high, float* to) {
  for (int i = 0; i < low.kCount; ++i) to[i] = static_cast<float>(low.all[i]);
  for (int i = 0; i < low.kCount; ++i) to[low.kCount + i] = static_cast<float>(high.all[i]);
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void StoreFloats(const Doubles<32>& low,
                                                             const Doubles<32>& high, float* to) {
  const __m256 first = _mm256_castps128_ps256(_mm256_cvtpd_ps(low.all));
  _mm256_storeu_ps(to, _mm256_insertf128_ps(first, _mm256_cvtpd_ps(high.all), 1));
}
__attribute__((target(OPCAST_AVX512))) inline void StoreFloats(const Doubles<64>& low,
                                                               const Doubles<64>& high, float* to) {
  const __m256d first = _mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xff, low.all)),
                second = _mm256_castps_pd(_mm512_maskz_cvtpd_ps(0xff, high.all));
  const __m512d both = _mm512_castpd256_pd512(first);
  _mm512_storeu_pd(to, _mm512_maskz_insertf64x4(0xff, both, second, 1));
}
#endif

// *root = the square root of each number: NaN for what is below 0.
inline void Root(const Doubles<16>& x, Doubles<16>* root) {
  for (int i = 0; i < x.kCount; ++i) root->all[i] = __builtin_sqrt(x.all[i]);
}
#if defined(__x86_64__)
__attribute__((target(OPCAST_AVX2))) inline void Root(const Doubles<32>& x, Doubles<32>* root) {
  root->all = _mm256_sqrt_pd(x.all);
}
__attribute__((target(OPCAST_AVX512))) inline void Root(const Doubles<64>& x, Doubles<64>* root) {
  root->all = _mm512_maskz_sqrt_pd(0xff, x.all);
}
#endif

// The larger one of each pair; `best` where the other one is NaN.
template <int kWidth>
inline void Larger(const Floats<kWidth>& x, Floats<kWidth>* best) {
  best->all = x.all > best->all ? x.all : best->all;
}

}  // namespace opcast_ops
