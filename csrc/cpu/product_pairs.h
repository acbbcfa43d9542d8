// Pairs of bfloat16 in the lanes of vectors, and which of their products are so small that dot
// product instructions would lose them.
//
// These instructions take numbers below 2^-126 for zero, in the factors as in sums on the way. A
// sum on the way loses more by that than by its rounding to float only where a product lies below
// 2^-100. Whether an element has such a product is told by the smallest numbers of the two rows
// that it is made of, in a panel of the depth. So it depends on nothing else, and neither does the
// way in which the element is computed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "product_element.h"

#define OPCAST_AVX512_BF16 OPCAST_AVX512 ",avx512bf16"

namespace opcast_ops {

// The exponent of the smallest number of a row that is not zero, more than any has if all are zero.
using Exponent = uint16_t;

inline bool IsFaint(Exponent a, Exponent b) {
  constexpr int kBias = 127, kLeast = -100;
  return a == 0 || b == 0 || a + b < 2 * kBias + kLeast;
}

#if defined(__x86_64__)
// The smallest numbers of rows of bfloat16, in the lanes in which they came.
struct Smallest {
  // Notes the numbers of a vector.
  __attribute__((target(OPCAST_AVX512))) void Note(const Vector<64>& numbers) {
    const __m512i magnitude =
        _mm512_and_si512(_mm512_castps_si512(numbers), _mm512_set1_epi16(0x7fff));
    const __m512i less = _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1));  // 0 becomes 65535
    all = _mm512_maskz_min_epu16(kAllNumbers, all, less);
  }

  __attribute__((target(OPCAST_AVX512))) Exponent Get() const {
    constexpr int kMantissa = 7;
    const __m256i half = _mm256_min_epu16(_mm512_maskz_extracti64x4_epi64(0xf, all, 0),
                                          _mm512_maskz_extracti64x4_epi64(0xf, all, 1));
    const __m128i quarter =
        _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    const int least = _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xffff;
    return static_cast<Exponent>(least >> kMantissa);
  }

  static constexpr __mmask32 kAllNumbers = 0xffffffff;
  typedef long long Lanes512 __attribute__((vector_size(64), may_alias));
  Lanes512 all = Lanes512{} - 1;
};

struct FaintPairs;

// Two bfloat16 in each lane, for machines whose instructions multiply and add both. These take
// numbers below the smallest normal float for zero, also sums on the way.
struct Pairs {
  static constexpr int kPerLane = 2;
  using Smallest = opcast_ops::Smallest;
  using Exact = FaintPairs;  // for what these instructions would lose

  template <int kWidth>
  static void Copy(const opcast::bf16* from, int64_t n, float* to) {
    constexpr int64_t kNumbers = kWidth / sizeof(opcast::bf16);
    if (n >= kNumbers) {
      std::memcpy(to, from, kWidth);
    } else {
      std::memset(static_cast<void*>(to), 0, kWidth);
      std::memcpy(to, from, static_cast<size_t>(std::max<int64_t>(n, 0)) * sizeof *from);
    }
  }

  template <int kWidth>
  __attribute__((target(OPCAST_AVX512))) static void CopyLines(const opcast::bf16* const* lines,
                                                               int64_t row, Vector<64>* to) {
    const __m512i low = Wide(lines[0] + row), high = Wide(lines[1] + row);
    *to = _mm512_castsi512_ps(_mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16)));
  }

  template <int kWidth>
  __attribute__((target(OPCAST_AVX512_BF16))) static void Multiply(const Vector<64>& a,
                                                                   const Vector<64>& b,
                                                                   Vector<64>* sum) {
    *sum = _mm512_dpbf16_ps(*sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }

 private:
  // The bits of as many numbers as there are lanes.
  __attribute__((target(OPCAST_AVX512))) static __m512i Wide(const opcast::bf16* from) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_maskz_cvtepu16_epi32(kAll, bits);
  }
};

// The same, with the products of a lane added one after the other, and nothing taken for zero.
struct FaintPairs : Pairs {
  template <int kWidth>
  __attribute__((target(OPCAST_AVX512))) static void Multiply(const Vector<64>& a,
                                                              const Vector<64>& b,
                                                              Vector<64>* sum) {
    const __m512i x = _mm512_castps_si512(a), y = _mm512_castps_si512(b);
    const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xffff0000));
    const __m512 low = _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, x, 16));
    *sum = _mm512_fmadd_ps(low, _mm512_castsi512_ps(_mm512_maskz_slli_epi32(kAll, y, 16)), *sum);
    const __m512 high = _mm512_castsi512_ps(_mm512_and_si512(x, upper));
    *sum = _mm512_fmadd_ps(high, _mm512_castsi512_ps(_mm512_and_si512(y, upper)), *sum);
  }
};
#endif

// A group of rows that a tile reads, and what their exponents are.
template <class Element, int kGroup>
class Watch {
 public:
  template <class Rows>
  struct Watched : Rows {
    typename Element::Smallest* smallest;

    template <class E, class V>
    void Load(int row, V* to) const {
      Rows::template Load<E>(row, to);
      smallest[row].Note(*to);
    }
  };

  // The rows, watched as they are read.
  template <class Rows>
  Watched<Rows> Over(const Rows& rows) {
    return {rows, smallest_};
  }

  // The exponents of what has been read.
  void Get(Exponent (&exponents)[kGroup]) const {
    for (int r = 0; r < kGroup; ++r) exponents[r] = smallest_[r].Get();
  }

 private:
  typename Element::Smallest smallest_[kGroup];
};

}  // namespace opcast_ops
