// How kernels of multi-head latent attention read rows of an FP8 cache: as floats, and as pairs for
// dot product instructions (see mla_bf16_scores.h).
//
// Rows is a class that knows where they are: At(row, space) gives a row's parts, and FetchNext(row)
// fetches a row that will be read a step later.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/attention/mla_bf16_scores.h"
#include "cpu/lib/scaled_8_bits.h"
#include "cpu/lib/streaming_stores.h"

namespace opcast_ops {

constexpr int64_t kPlain = 448, kRotary = 64;  // columns of FP8, and the others
constexpr int64_t kScaled = 64, kScales = 7;   // columns of one scale, and scales of a row

// The parts of a row. Those that the cache does not have in this form are in a RowSpace.
template <class T>
struct RowParts {
  const T* plain;
  const opcast::bf16* rotary;
  const float* scales;
};
struct RowSpace {
  opcast::bf16 rotary[kRotary];
  float scales[kScales];
};

// Fetches a stretch of memory that is read soon.
__attribute__((always_inline)) inline void FetchBytes(const void* from, int64_t bytes) {
  constexpr int64_t kLine = 64;  // bytes that come at a time
  for (int64_t i = 0; i < bytes; i += kLine) FetchToRead(static_cast<const char*>(from) + i);
}

// Copies a row as floats.
template <int kVector, class Rows>
inline void ReadRow(const Rows& rows, int64_t row, float* to) {
  RowSpace space;
  const auto parts = rows.At(row, &space);
  for (int64_t s = 0; s < kScales; ++s)
    WidenScaled<kVector>(parts.plain + s * kScaled, parts.scales[s], kScaled, to + s * kScaled);
  Widen<kVector>(parts.rotary, to + kPlain, kRotary);
}

// Copies rows as floats, and makes numbers of those that tiles read beyond the last.
template <int kVector, class Rows>
inline void ReadRows(const Rows& rows, int64_t first, int64_t count, float (*to)[kColumns]) {
  for (int64_t i = 0; i < count; ++i) {
    rows.FetchNext(first + i);
    ReadRow<kVector>(rows, first + i, to[i]);
  }
  for (int64_t i = count; i % TileShape<kVector>::kN != 0; ++i) std::fill_n(to[i], kColumns, 0.0f);
}

#if defined(__x86_64__)

// Numbers of four rows that are bfloat16 as floats, sixteen of each.
using FourLines = __m512[kFour];

// Keeps the pairs of four rows side by side.
__attribute__((target(OPCAST_AVX512))) inline void KeepFour(const FourLines& lines, float* pairs) {
  // Takes the upper halves of pairs 0, 4, 1, 5, 2, 6, 3 and 7 of two lines.
  const __m512i order =
      _mm512_set_epi16(63, 61, 31, 29, 47, 45, 15, 13, 59, 57, 27, 25, 43, 41, 11, 9, 55, 53, 23,
                       21, 39, 37, 7, 5, 51, 49, 19, 17, 35, 33, 3, 1);
  constexpr __mmask32 kAllNumbers = 0xffffffff;
  const __m512i two = _mm512_maskz_permutex2var_epi16(kAllNumbers, _mm512_castps_si512(lines[0]),
                                                      order, _mm512_castps_si512(lines[1]));
  const __m512i others = _mm512_maskz_permutex2var_epi16(kAllNumbers, _mm512_castps_si512(lines[2]),
                                                         order, _mm512_castps_si512(lines[3]));
  _mm512_storeu_si512(pairs, _mm512_maskz_unpacklo_epi64(0xff, two, others));
  _mm512_storeu_si512(pairs + sizeof(__m512) / sizeof(float),
                      _mm512_maskz_unpackhi_epi64(0xff, two, others));
}

// Reads 32 codes of four rows from column j on, which must not be NaN.
template <class T>
__attribute__((target(OPCAST_AVX512))) inline void ReadCodes(const T* const (&from)[kFour],
                                                             int64_t j, const float* scales,
                                                             float* to, float* pairs) {
  constexpr int64_t kLanes = 16;
  FourLines low, high;
#pragma GCC unroll 4
  for (int r = 0; r < kFour; ++r) {
    WidenNumbers(from[r] + j, &low[r], &high[r]);
    const __m512 scale = _mm512_set1_ps(scales[r]);
    _mm512_storeu_ps(to + r * kColumns + j, _mm512_mul_ps(low[r], scale));
    _mm512_storeu_ps(to + r * kColumns + j + kLanes, _mm512_mul_ps(high[r], scale));
  }
  KeepFour(low, pairs + j / 2 * kFour);
  KeepFour(high, pairs + (j + kLanes) / 2 * kFour);
}

// Reads rotary columns of four rows.
__attribute__((target(OPCAST_AVX512))) inline void ReadRotary(
    const opcast::bf16* const (&from)[kFour], float* to, float* pairs) {
  constexpr int64_t kLanes = 16;
  for (int64_t j = 0; j < kRotary; j += kLanes) {
    FourLines lines;
#pragma GCC unroll 4
    for (int r = 0; r < kFour; ++r) {
      WidenBlock(from[r] + j, to + r * kColumns + j, Wide<64>());
      lines[r] = _mm512_loadu_ps(to + r * kColumns + j);
    }
    KeepFour(lines, pairs + j / 2 * kFour);
  }
}

// Reads the scales of row r of four. Returns whether all fit.
inline bool ReadScales(const float* from, int64_t r, float (*to)[kFour]) {
  bool fit = true;
  for (int64_t s = 0; s < kScales; ++s) {
    to[s][r] = from[s];
    fit &= std::isfinite(from[s]);
  }
  to[kScales][r] = 1;
  return fit;
}

// Reads four rows from `row` on, to place `at` of a step. Row `last` stands for those beyond.
// Returns whether all fit.
template <class Rows>
inline bool ReadFour(const Rows& rows, int64_t row, int64_t last, int64_t at, float (*to)[kColumns],
                     PairSpace* space) {
  using T = typename Rows::Code;
  constexpr int kAny = 128;
  RowSpace spaces[kFour];
  const T* plain[kFour];
  const opcast::bf16* rotary[kFour];
  bool all_fit = true;
  float (*const scales)[kFour] = space->scales[at / kFour];
  for (int64_t r = 0; r < kFour; ++r) {
    const int64_t source = std::min(row + r, last);
    rows.FetchNext(source);
    const RowParts<T> parts = rows.At(source, &spaces[r]);
    plain[r] = parts.plain;
    rotary[r] = parts.rotary;
    const bool scales_fit = ReadScales(parts.scales, r, scales);
    const bool codes_fit = Fit(rotary[r], kRotary, kAny) & !HasNan(plain[r], kPlain);
    all_fit &= space->row_fits[at + r] = scales_fit & codes_fit;
  }
  float* const pairs = space->codes[at / kFour][0];
  constexpr int64_t kBlock = 32;
  for (int64_t j = 0; j < kPlain; j += kBlock)
    ReadCodes(plain, j, scales[j / kScaled], to[at], pairs);
  ReadRotary(rotary, to[at] + kPlain, pairs + kPlain / 2 * kFour);
  return all_fit;
}

// Copies rows as floats and as pairs. Those that do not fit may have NaN, and are copied once more
// as floats. Returns whether all fit.
template <class Rows>
inline bool ReadPairs(const Rows& rows, int64_t first, int64_t count, float (*to)[kColumns],
                      PairSpace* space) {
  bool all_fit = true;
  for (int64_t i = 0; i < count; i += kFour)
    all_fit &= ReadFour(rows, first + i, first + count - 1, i, to, space);
  space->End(count);
  if (all_fit) return true;
  for (int64_t i = 0; i < count; ++i)
    if (!space->row_fits[i]) ReadRow<64>(rows, first + i, to[i]);
  return false;
}

#endif

}  // namespace opcast_ops
