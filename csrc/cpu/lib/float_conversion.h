// Stretches of numbers of any width as floats, and back.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "cpu/lib/float_to_fp8.h"
#include "cpu/lib/scalar_functions.h"
#include "opcast/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace opcast_ops {

// to[i] = from[i] as a float; exact.
template <class T>
inline void WidenAll(const T* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

// to[i] = from[i], rounded to nearest, ties to even; all NaN become one.
template <class T>
inline void NarrowAll(const float* from, T* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = Round<T>(from[i]);
}

// The same for integers, which the numbers are. Compilers vectorise no other way to these.
inline void NarrowAll(const float* from, int8_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int8_t>(static_cast<int32_t>(from[i]));
}

// Whether there may be NaN among numbers that are to be rounded, and numbers of more digits.
struct AnyNan : std::true_type {};
struct NoNan : std::false_type {};
struct Exact : AnyNan {};

#if defined(__x86_64__)
// What compilers do not find: as many numbers as a vector of kWidth bytes has floats. float16 has
// instructions, which give the same bits as opcast::f16 does in a dozen others. bfloat16 is the
// upper half, rounded; its instructions would take denormals for zero.
// GCC 12 warns of the values that instructions without a mask would leave, had they one.
constexpr __mmask16 kAll = 0xffff;
template <int kWidth>
using Wide = std::integral_constant<int, kWidth>;

__attribute__((target(OPCAST_AVX512))) inline void WidenBlock(const opcast::f16* from, float* to,
                                                              Wide<64>) {
  _mm512_storeu_ps(
      to, _mm512_maskz_cvtph_ps(kAll, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))));
}
// For each half of numbers of 32 bits, where among numbers of 16 bits to find what becomes it.
__attribute__((target(OPCAST_AVX512))) inline __m512i BothHalves() {
  return _mm512_set_epi16(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5,
                          5, 4, 4, 3, 3, 2, 2, 1, 1, 0, 0);
}
// Where the upper halves of numbers of 32 bits are, in one vector or two.
__attribute__((target(OPCAST_AVX512))) inline __m512i UpperHalves() {
  return _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29,
                          27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
}
__attribute__((target(OPCAST_AVX512))) inline void WidenBlock(const opcast::bf16* from, float* to,
                                                              Wide<64>) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  const __m512i wide = _mm512_maskz_cvtepu16_epi32(kAll, bits);
  _mm512_storeu_si512(to, _mm512_maskz_slli_epi32(kAll, wide, 16));
}
__attribute__((target(OPCAST_AVX512))) inline __m512 OneNan(const float* from, Wide<64>, NoNan) {
  return _mm512_loadu_ps(from);
}
__attribute__((target(OPCAST_AVX512))) inline __m512 OneNan(const float* from, Wide<64>, AnyNan) {
  constexpr int kKeepNan = 0x11111100;  // both kinds of NaN become `nan`, all else stays
  const __m512 nan = _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN());
  return _mm512_fixupimm_ps(nan, _mm512_loadu_ps(from), _mm512_set1_epi32(kKeepNan), 0);
}
template <class Nan>
__attribute__((target(OPCAST_AVX512))) inline void NarrowBlock(const float* from, float* to,
                                                               Wide<64> width, Nan nan) {
  _mm512_storeu_ps(to, OneNan(from, width, nan));
}
template <class Nan>
__attribute__((target(OPCAST_AVX512))) inline void NarrowBlock(const float* from, opcast::f16* to,
                                                               Wide<64> width, Nan nan) {
  const __m256i bits =
      _mm512_maskz_cvtps_ph(kAll, OneNan(from, width, nan), _MM_FROUND_TO_NEAREST_INT);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), bits);
}
// No sum overflows into the sign: the one NaN has the upper bits 0x7fc0.
template <class Nan>
__attribute__((target(OPCAST_AVX512))) inline void NarrowBlock(const float* from, opcast::bf16* to,
                                                               Wide<64> width, Nan nan) {
  __m512i wide = _mm512_castps_si512(OneNan(from, width, nan));
  if constexpr (!std::is_same_v<Nan, Exact>) {
    const __m512i odd =
        _mm512_and_epi32(_mm512_maskz_srli_epi32(kAll, wide, 16), _mm512_set1_epi32(1));
    wide = _mm512_add_epi32(wide, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  }
  const __m512i bits = _mm512_maskz_permutexvar_epi16(0xffffffff, UpperHalves(), wide);
  std::memcpy(to, &bits, sizeof bits / 2);
}

__attribute__((target(OPCAST_AVX2))) inline void WidenBlock(const opcast::f16* from, float* to,
                                                            Wide<32>) {
  _mm256_storeu_ps(to, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
// Of AVX2 alone, so that it becomes part of loops for AVX-512 as well.
__attribute__((target("avx2"))) inline void WidenBlock(const opcast::bf16* from, float* to,
                                                       Wide<32>) {
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  const __m256i wide = _mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), wide);
}
__attribute__((target(OPCAST_AVX2))) inline __m256 OneNan(const float* from, Wide<32>, NoNan) {
  return _mm256_loadu_ps(from);
}
__attribute__((target(OPCAST_AVX2))) inline __m256 OneNan(const float* from, Wide<32>, AnyNan) {
  const __m256 x = _mm256_loadu_ps(from);
  const __m256 nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
  return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
template <class Nan>
__attribute__((target(OPCAST_AVX2))) inline void NarrowBlock(const float* from, opcast::f16* to,
                                                             Wide<32> width, Nan nan) {
  const __m128i bits = _mm256_cvtps_ph(OneNan(from, width, nan), _MM_FROUND_TO_NEAREST_INT);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bits);
}
template <class Nan>
__attribute__((target(OPCAST_AVX2))) inline void NarrowBlock(const float* from, opcast::bf16* to,
                                                             Wide<32> width, Nan nan) {
  __m256i wide = _mm256_castps_si256(OneNan(from, width, nan));
  if constexpr (!std::is_same_v<Nan, Exact>) {
    const __m256i even = _mm256_and_si256(_mm256_srli_epi32(wide, 16), _mm256_set1_epi32(1));
    wide = _mm256_add_epi32(wide, _mm256_add_epi32(even, _mm256_set1_epi32(0x7fff)));
  }
  const __m256i bits = _mm256_srli_epi32(wide, 16);
  const __m128i pairs =
      _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), pairs);
}

template <class T, class Nan>
__attribute__((target(OPCAST_AVX512))) inline void NarrowBlock(const float* from, T* to,
                                                               Wide<64> width, Nan nan) {
  NarrowToFp8(OneNan(from, width, nan), to);
}

template <class T>
constexpr bool kHasBlocks = std::is_same_v<T, opcast::f16> || std::is_same_v<T, opcast::bf16>;
template <int kWidth, class T>
constexpr bool kNarrowsBlocks =
    (kWidth > 16 && kHasBlocks<T>) || (kWidth == 64 && (std::is_same_v<T, opcast::f8e4m3fn> ||
                                                        std::is_same_v<T, opcast::f8e4m3fnuz>));
#endif

template <int kWidth, class T>
inline void Widen(const T* from, float* to, int64_t n) {
#if defined(__x86_64__)
  if constexpr (kWidth > 16 && kHasBlocks<T>) {
    constexpr int64_t kBlock = kWidth / sizeof(float);
    const int64_t blocks = n / kBlock;
#pragma GCC unroll 8
    for (int64_t i = 0; i < blocks; ++i)
      WidenBlock(from + i * kBlock, to + i * kBlock, Wide<kWidth>());
    from += blocks * kBlock, to += blocks * kBlock, n -= blocks * kBlock;
  }
#endif
  WidenAll(from, to, n);
}

template <int kWidth, class T, class Nan = AnyNan>
inline void Narrow(const float* from, T* to, int64_t n, Nan nan = {}) {
#if defined(__x86_64__)
  if constexpr (kNarrowsBlocks<kWidth, T>) {
    constexpr int64_t kBlock = kWidth / sizeof(float);
    const int64_t blocks = n / kBlock;
#pragma GCC unroll 8
    for (int64_t i = 0; i < blocks; ++i)
      NarrowBlock(from + i * kBlock, to + i * kBlock, Wide<kWidth>(), nan);
    from += blocks * kBlock, to += blocks * kBlock, n -= blocks * kBlock;
  }
#endif
  NarrowAll(from, to, n);
  static_cast<void>(nan);
}

// Room for n floats.
class FloatSpace {
 public:
  explicit FloatSpace(int64_t n)
      : lines_(n == 0 ? nullptr : new Line[(n + kFloats - 1) / kFloats]) {}

  float* Floats() const { return reinterpret_cast<float*>(lines_.get()); }

 private:
  static constexpr int64_t kFloats = 16;
  struct alignas(64) Line {  // of the cache: vectors that lie across two take twice as long
    float floats[kFloats];
  };

  const std::unique_ptr<Line[]> lines_;
};

// A row as floats: the row itself where it has floats, otherwise a copy. Kernels that go over a row
// more than once convert it once.
template <int kWidth, class T>
class FloatRow {
 public:
  explicit FloatRow(int64_t n) : n_(n), space_(kCopies ? n : 0) {}

  // The row's numbers, until the next call.
  const float* Read(const T* row) {
    if constexpr (kCopies) {
      Widen<kWidth>(row, space_.Floats(), n_);
      return space_.Floats();
    } else {
      return row;
    }
  }

  // Where to put the numbers of a row; Wrote(row) must follow.
  float* Write(T* row) {
    if constexpr (kCopies)
      return space_.Floats();
    else
      return row;
  }
  void Wrote(T* row) {
    if constexpr (kCopies) Narrow<kWidth>(space_.Floats(), row, n_);
  }

 private:
  static constexpr bool kCopies = !std::is_same_v<T, float>;

  const int64_t n_;
  const FloatSpace space_;
};

}  // namespace opcast_ops
