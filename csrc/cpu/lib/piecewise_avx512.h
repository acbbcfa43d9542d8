// Functions by pieces, for AVX-512: a polynomial for each of 16 intervals, whose coefficients are
// in registers. To find those of 16 numbers takes one instruction each, which unlike a product
// leaves the multiply units free: a short polynomial and tables take less time than a long one.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>

#include "cpu/lib/float_conversion.h"

namespace opcast_ops {

// A number for each piece.
struct Table {
  alignas(64) float numbers[16];
};

// The number of the piece that the low 4 bits of each place name.
__attribute__((target(OPCAST_AVX512))) inline __m512 Find(const Table& table, __m512i places) {
  return _mm512_maskz_permutexvar_ps(kAll, places, _mm512_load_ps(table.numbers));
}

// Which of the pieces [0, 1/4), [1/4, 1/2), [1/2, 3/4), [3/4, 1), [1, 3/2), ... [13, 15) has a: two
// bits of the exponent of the float a + 1 and the two behind them. So tables begin with [1, 3/2),
// and these four are last.
__attribute__((target(OPCAST_AVX512))) inline __m512i PlaceFrom(__m512 sum) {
  constexpr int kMantissa = 23, kOfPlace = 2;
  return _mm512_maskz_srli_epi32(kAll, _mm512_castps_si512(sum), kMantissa - kOfPlace);
}
__attribute__((target(OPCAST_AVX512))) inline __m512i PlaceOf(__m512 a) {
  return PlaceFrom(a + _mm512_set1_ps(1));
}
// The same for pieces that are 1 / scale times as long.
__attribute__((target(OPCAST_AVX512))) inline __m512i PlaceOf(__m512 a, float scale) {
  return PlaceFrom(_mm512_fmadd_ps(a, _mm512_set1_ps(scale), _mm512_set1_ps(1)));
}

// A polynomial for each piece, whose coefficients begin with that of the highest power.
template <int kDegree>
struct Pieces {
  Table coefficients[kDegree + 1];

  __attribute__((target(OPCAST_AVX512))) __m512 At(__m512 x, __m512i places) const {
    __m512 sum = Find(coefficients[0], places);
#pragma GCC unroll 8
    for (int i = 1; i <= kDegree; ++i) sum = _mm512_fmadd_ps(sum, x, Find(coefficients[i], places));
    return sum;
  }
  __attribute__((target(OPCAST_AVX512))) __m512 At(__m512 x) const { return At(x, PlaceOf(x)); }
};

// The same in the distance to a number of each piece, so that nothing cancels.
template <int kDegree>
struct CentredPieces {
  Table middle;
  Pieces<kDegree> around;

  __attribute__((target(OPCAST_AVX512))) __m512 At(__m512 x, __m512i places) const {
    return around.At(x - Find(middle, places), places);
  }
  __attribute__((target(OPCAST_AVX512))) __m512 At(__m512 x) const { return At(x, PlaceOf(x)); }
};

}  // namespace opcast_ops
#endif
