// Pairs of bfloat16 in the lanes of vectors, and which of their sums dot product instructions may
// spoil.
//
// These instructions take numbers below 2^-126 for zero, in the factors as in sums on the way. A
// sum that is large enough beside what may be lost needs no further care (see Enough). Another one
// is computed without them where that may count: Product asks for the smallest numbers of the two
// rows that a sum is made of, in a panel of the depth, SpreadProduct does so whenever the sum is
// small. So all this depends on these rows only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu/lib/gemm_tile.h"

#define OPCAST_AVX512_BF16 OPCAST_AVX512 ",avx512bf16"

namespace opcast_ops {

// The exponent of the smallest number of a row that is not zero, more than any has if all are zero.
using Exponent = uint16_t;

inline bool IsFaint(Exponent a, Exponent b) {
  constexpr int kBias = 127, kLeast = -100;
  return a == 0 || b == 0 || a + b < 2 * kBias + kLeast;
}

// What is known of rows in a panel of the depth.
struct Weights {
  Exponent* smallest;
  float* enough;  // sums that are larger have lost nothing that counts
};

#if defined(__x86_64__)
// The smallest and the largest numbers of rows of bfloat16, in the lanes in which they came.
struct Magnitudes {
  // Notes the numbers of a vector.
  __attribute__((target(OPCAST_AVX512))) void Note(const Vector<64>& numbers) {
    const __m512i magnitude =
        _mm512_and_si512(_mm512_castps_si512(numbers), _mm512_set1_epi16(kMagnitude));
    const __m512i less = _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1));  // 0 becomes 65535
    smallest = _mm512_maskz_min_epu16(kAllNumbers, smallest, less);
    largest = _mm512_maskz_max_epu16(kAllNumbers, largest, magnitude);
  }

  // The exponent of the smallest number that is not zero.
  Exponent Smallest() const { return static_cast<Exponent>(Least(smallest) >> kMantissa); }

  // Nothing is lost of products with zeros. A panel loses less than 2^-116 in sums on the way, and
  // as much times the largest number if there are denormals in the other row, none of them in this
  // one. Beside 2^26 times that, it is less than what rounding takes.
  float Enough() const {
    if (Smallest() == 0) return std::numeric_limits<float>::infinity();
    const uint32_t most = Most();
    if (most == 0) return -1;
    return 0x1p-90f + 0x1p-90f * opcast::detail::FromBits(most << 16);
  }

 private:
  typedef long long Lanes512 __attribute__((vector_size(64), may_alias));

  __attribute__((target(OPCAST_AVX512))) uint32_t Most() const {
    return kMagnitude - Least(_mm512_sub_epi16(_mm512_set1_epi16(kMagnitude), largest));
  }
  __attribute__((target(OPCAST_AVX512))) static uint32_t Least(const Lanes512& all) {
    const __m256i half = _mm256_min_epu16(_mm512_maskz_extracti64x4_epi64(0xf, all, 0),
                                          _mm512_maskz_extracti64x4_epi64(0xf, all, 1));
    const __m128i quarter =
        _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    return _mm_cvtsi128_si32(_mm_minpos_epu16(quarter)) & 0xffff;
  }

  static constexpr int kMantissa = 7;
  static constexpr int16_t kMagnitude = 0x7fff;
  static constexpr __mmask32 kAllNumbers = 0xffffffff;

  Lanes512 smallest = Lanes512{} - 1, largest = {};
};

struct FaintPairs;

// Two bfloat16 in each lane, for machines whose instructions multiply and add both. These take
// numbers below the smallest normal float for zero, also sums on the way.
struct Pairs {
  static constexpr int kPerLane = 2;
  using Magnitudes = opcast_ops::Magnitudes;
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

// Weighs row `row` of a group of rows, from so many steps of a panel.
template <class Element, int kWidth, class Rows>
inline void Weigh(Rows rows, int row, int64_t steps, typename Element::Magnitudes* magnitudes) {
  for (; steps > 0; --steps, rows.template Next<Element>()) {
    Vector<kWidth> numbers;
    rows.template Load<Element>(row, &numbers);
    magnitudes->Note(numbers);
  }
}

#if defined(__x86_64__)
// Whether no total may be spoilt: all are larger than what is enough for their row.
template <int kM, int kN>
__attribute__((target(OPCAST_AVX512))) inline bool AllLarge(const Totals<kM, kN>& totals,
                                                            const float* enough) {
  constexpr __mmask16 kUsed = (1 << kM * kN) - 1;
  int32_t rows[sizeof(__m512i) / sizeof(int32_t)] = {};
  for (int t = 0; t < kM * kN; ++t) rows[t] = t / kN;
  const __m512 limits = _mm512_maskz_permutexvar_ps(kUsed, _mm512_loadu_si512(rows),
                                                    _mm512_castps128_ps512(_mm_loadu_ps(enough)));
  const __m512 sums = _mm512_maskz_loadu_ps(kUsed, totals.all);
  return _mm512_mask_cmp_ps_mask(kUsed, _mm512_abs_ps(sums), limits, _CMP_GT_OQ) == kUsed;
}

// Which sums are larger than what is enough, and which lanes have a number that is not zero.
__attribute__((target(OPCAST_AVX512))) inline __mmask16 LargeLanes(const Vector<64>& sums,
                                                                   float enough) {
  return _mm512_cmp_ps_mask(_mm512_abs_ps(sums), _mm512_set1_ps(enough), _CMP_GT_OQ);
}
__attribute__((target(OPCAST_AVX512))) inline __mmask16 FilledLanes(const float* pairs,
                                                                    int64_t stride, int64_t count) {
  __m512i bits = _mm512_setzero_si512();
  for (int64_t i = 0; i < count; ++i)
    bits = _mm512_or_si512(bits, _mm512_loadu_si512(pairs + i * stride));
  return _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x7fff7fff));
}
__attribute__((target(OPCAST_AVX512))) inline void Replace(__mmask16 lanes, const Vector<64>& by,
                                                           Vector<64>* sums) {
  *sums = _mm512_mask_mov_ps(*sums, lanes, by);
}

// Replaces totals that dot product instructions may have spoilt. add(element, tile) adds the
// products to a tile, and weigh(row, magnitudes) weighs a row of b.
template <int kWidth, class Element, int kM, int kN, class Add, class WeighRow>
__attribute__((noinline, flatten, target(OPCAST_AVX512_BF16))) void Settle(
    int64_t rows, int64_t columns, const Weights& of_a, const Add& add, const WeighRow& weigh,
    Totals<kM, kN>* totals) {
  Tile<kWidth, kM, kN> tile;
  Totals<kM, kN> exact = {};
  bool computed = false;
  for (int j = 0; j < columns; ++j) {
    typename Element::Magnitudes of_b;
    weigh(j, &of_b);
    for (int i = 0; i < rows; ++i) {
      float& total = totals->all[i * kN + j];
      if (__builtin_fabsf(total) > of_a.enough[i]) continue;
      if (!IsFaint(of_a.smallest[i], of_b.Smallest())) continue;
      if (!computed) add(typename Element::Exact(), &tile), tile.AddUp(&exact);
      computed = true;
      total = exact.all[i * kN + j];
    }
  }
}
#endif

}  // namespace opcast_ops
