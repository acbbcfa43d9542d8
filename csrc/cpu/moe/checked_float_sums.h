// Sums in float for results of 16 bits, and which of them float has spoilt.
//
// Each step of a sum of n terms loses at most 2^-24 of what it has come to. So where the sum is at
// least n 2^(d - 22) times the largest one on the way, less than a quarter of the last place of a
// result of d digits is lost. Products below the smallest normal number lose more, and count for
// nothing where the largest sum is above 2^-90, or where fewer than 2^16 of them are all zero.
#pragma once

#include <cstdint>

#include "cpu/lib/vector_lanes.h"
#include "cpu/lib/weighted_rows_tile.h"

namespace opcast_ops {

// How large a sum of n terms has to be, beside the largest one on the way.
template <class Y>
inline float LeastSum(int64_t n) {
  constexpr float kLeast = std::is_same_v<Y, opcast::f16> ? 0x1p-11f : 0x1p-14f;
  return static_cast<float>(n) * kLeast;
}

#if defined(__x86_64__)

// Sums, and the largest magnitude that each had on the way.
template <int kWidth>
struct WatchedSums {
  Vector<kWidth> sum = {}, most = {};
};

__attribute__((target(OPCAST_AVX2))) inline void AddWatched(const Vector<32>& weight,
                                                            const Lanes<32>& x,
                                                            WatchedSums<32>* sums) {
  sums->sum = _mm256_fmadd_ps(weight, _mm256_load_ps(x.numbers), sums->sum);
  sums->most = _mm256_max_ps(sums->most, _mm256_andnot_ps(_mm256_set1_ps(-0.0f), sums->sum));
}
__attribute__((target(OPCAST_AVX512))) inline void AddWatched(const Vector<64>& weight,
                                                              const Lanes<64>& x,
                                                              WatchedSums<64>* sums) {
  constexpr int kLargestMagnitude = 0b1011;
  sums->sum = _mm512_fmadd_ps(weight, _mm512_load_ps(x.numbers), sums->sum);
  sums->most = _mm512_maskz_range_ps(kAll, sums->most, sums->sum, kLargestMagnitude);
}

// *sum = *sum * a + x * b, as good as in double however much cancels: the product that is rounded
// gets back what it lacks. *most is the largest magnitude so far, by its bits: see Verdict.
__attribute__((target(OPCAST_AVX2))) inline void AddPair(const Vector<32>& a, const Vector<32>& b,
                                                         const Lanes<32>& x, Lanes<32>* sum,
                                                         Vector<32>* most) {
  const __m256 other = _mm256_load_ps(x.numbers), product = _mm256_mul_ps(other, b);
  const __m256 all = _mm256_add_ps(_mm256_fmadd_ps(_mm256_load_ps(sum->numbers), a, product),
                                   _mm256_fmsub_ps(other, b, product));
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), all);
  *most = _mm256_castsi256_ps(
      _mm256_max_epi32(_mm256_castps_si256(*most), _mm256_castps_si256(magnitude)));
  _mm256_store_ps(sum->numbers, all);
}
__attribute__((target(OPCAST_AVX512))) inline void AddPair(const Vector<64>& a, const Vector<64>& b,
                                                           const Lanes<64>& x, Lanes<64>* sum,
                                                           Vector<64>* most) {
  const __m512 other = _mm512_load_ps(x.numbers), product = _mm512_mul_ps(other, b);
  const __m512 all = _mm512_add_ps(_mm512_fmadd_ps(_mm512_load_ps(sum->numbers), a, product),
                                   _mm512_fmsub_ps(other, b, product));
  *most = _mm512_castsi512_ps(_mm512_maskz_max_epi32(kAll, _mm512_castps_si512(*most),
                                                     _mm512_castps_si512(_mm512_abs_ps(all))));
  _mm512_store_ps(sum->numbers, all);
}

// Whether the largest magnitude is finite.
__attribute__((target(OPCAST_AVX2))) inline bool AllFinite(const Vector<32>& most) {
  const __m256 infinite = _mm256_set1_ps(std::numeric_limits<float>::infinity());
  return _mm256_movemask_ps(_mm256_cmp_ps(most, infinite, _CMP_LT_OQ)) == 0xff;
}
__attribute__((target(OPCAST_AVX512))) inline bool AllFinite(const Vector<64>& most) {
  const __m512 infinite = _mm512_set1_ps(std::numeric_limits<float>::infinity());
  return _mm512_cmp_ps_mask(most, infinite, _CMP_LT_OQ) == kAll;
}

constexpr float kFaintSum = 0x1p-90f, kHugeSum = 0x1p126f;

// A bit for each lane: whether the sum is as good as one in double, for a result that needs it to
// be at least so many times the largest one on the way.
__attribute__((target(OPCAST_AVX2))) inline uint32_t GoodLanes(const WatchedSums<32>& sums,
                                                               float least) {
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), sums.sum);
  const __m256 most = sums.most, enough = _mm256_mul_ps(most, _mm256_set1_ps(least));
  const __m256 normal = _mm256_and_ps(_mm256_cmp_ps(most, _mm256_set1_ps(kFaintSum), _CMP_GT_OQ),
                                      _mm256_cmp_ps(most, _mm256_set1_ps(kHugeSum), _CMP_LT_OQ));
  const __m256 zero = _mm256_cmp_ps(most, _mm256_setzero_ps(), _CMP_EQ_OQ);
  const __m256 large = _mm256_cmp_ps(magnitude, enough, _CMP_GE_OQ);
  return static_cast<uint32_t>(
      _mm256_movemask_ps(_mm256_and_ps(large, _mm256_or_ps(normal, zero))));
}
__attribute__((target(OPCAST_AVX512))) inline uint32_t GoodLanes(const WatchedSums<64>& sums,
                                                                 float least) {
  const __m512 most = sums.most, enough = _mm512_mul_ps(most, _mm512_set1_ps(least));
  const __mmask16 large = _mm512_cmp_ps_mask(_mm512_abs_ps(sums.sum), enough, _CMP_GE_OQ);
  const __mmask16 faint = _mm512_cmp_ps_mask(most, _mm512_set1_ps(kFaintSum), _CMP_LE_OQ);
  const __mmask16 some = _mm512_mask_cmp_ps_mask(faint, most, _mm512_setzero_ps(), _CMP_NEQ_UQ);
  const __mmask16 finite =
      _mm512_mask_cmp_ps_mask(large, most, _mm512_set1_ps(kHugeSum), _CMP_LT_OQ);
  return finite & ~some;
}

// What says whether sums in several vectors are good, all of them. The largest one is found by its
// bits, where NaN are larger than all numbers: as floats, the numbers of the next vector would
// replace a NaN, and with it what the vectors before had noted.
template <int kWidth>
struct Verdict {
  Vector<kWidth> lack, largest, smallest;  // of what is enough; of the largest sums on the way
};

__attribute__((target(OPCAST_AVX2))) inline void Judge(const WatchedSums<32>& sums, float least,
                                                       bool first, Verdict<32>* verdict) {
  const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), sums.sum);
  const __m256 lack = _mm256_fmsub_ps(sums.most, _mm256_set1_ps(least), magnitude);
  verdict->lack = first ? lack : _mm256_max_ps(verdict->lack, lack);
  __m256i bits = _mm256_max_epi32(_mm256_castps_si256(sums.most), _mm256_castps_si256(magnitude));
  if (!first) bits = _mm256_max_epi32(_mm256_castps_si256(verdict->largest), bits);
  verdict->largest = _mm256_castsi256_ps(bits);
  verdict->smallest = first ? sums.most : _mm256_min_ps(verdict->smallest, sums.most);
}
__attribute__((target(OPCAST_AVX512))) inline void Judge(const WatchedSums<64>& sums, float least,
                                                         bool first, Verdict<64>* verdict) {
  const __m512 magnitude = _mm512_abs_ps(sums.sum);
  const __m512 lack = _mm512_fmsub_ps(sums.most, _mm512_set1_ps(least), magnitude);
  verdict->lack = first ? lack : _mm512_maskz_max_ps(kAll, verdict->lack, lack);
  const __m512i most = _mm512_castps_si512(sums.most);
  __m512i bits = _mm512_maskz_max_epi32(kAll, most, _mm512_castps_si512(magnitude));
  if (!first) bits = _mm512_maskz_max_epi32(kAll, _mm512_castps_si512(verdict->largest), bits);
  verdict->largest = _mm512_castsi512_ps(bits);
  verdict->smallest = first ? sums.most : _mm512_maskz_min_ps(kAll, verdict->smallest, sums.most);
}

// Whether all are good. Sums of zeros may be, and are not known to be.
__attribute__((target(OPCAST_AVX2))) inline bool AllGood(const Verdict<32>& verdict) {
  const __m256 enough = _mm256_cmp_ps(verdict.lack, _mm256_setzero_ps(), _CMP_LE_OQ);
  const __m256 finite = _mm256_cmp_ps(verdict.largest, _mm256_set1_ps(kHugeSum), _CMP_LT_OQ);
  const __m256 normal = _mm256_cmp_ps(verdict.smallest, _mm256_set1_ps(kFaintSum), _CMP_GT_OQ);
  return _mm256_movemask_ps(_mm256_and_ps(enough, _mm256_and_ps(finite, normal))) == 0xff;
}
__attribute__((target(OPCAST_AVX512))) inline bool AllGood(const Verdict<64>& verdict) {
  __mmask16 good = _mm512_cmp_ps_mask(verdict.lack, _mm512_setzero_ps(), _CMP_LE_OQ);
  good = _mm512_mask_cmp_ps_mask(good, verdict.largest, _mm512_set1_ps(kHugeSum), _CMP_LT_OQ);
  good = _mm512_mask_cmp_ps_mask(good, verdict.smallest, _mm512_set1_ps(kFaintSum), _CMP_GT_OQ);
  return good == kAll;
}

#endif

}  // namespace opcast_ops
