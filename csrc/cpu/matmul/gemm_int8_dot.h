// Sums of products of int8, for machines that multiply and add four bytes at once (VNNI).
//
// These instructions take one factor without a sign: b + 128, so that 128 times the sum of a's row
// is subtracted from what they add up. All sums are exact: of a panel of the depth as integers, of
// all panels in double. So bits are those of any other way to compute them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/matmul/gemm_quantised.h"

#if defined(__x86_64__)
#define OPCAST_AVX512_VNNI OPCAST_AVX512 ",avx512vnni"
#endif

namespace opcast_ops {

// Whether this process may use these instructions.
inline bool HasInt8Dot() {
#if defined(__x86_64__)
  return opcast::HasBf16Dot() && __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

#if defined(__x86_64__)

// Rows that follow each other, of `depth` places.
struct Int8Rows {
  const int8_t* at;
  int64_t depth;
};

constexpr int64_t kInt8Tile = 4;      // rows and columns whose sums are in registers
constexpr int64_t kInt8Step = 64;     // places that an instruction takes
constexpr int64_t kInt8Panel = 2048;  // places: rows of a tile stay in the nearest cache
static_assert(kBlockRows * kInt8Panel <= static_cast<int64_t>(sizeof(PanelSpace::a)));

// The places of a panel: as many in each, since a short one would take as long to add up.
inline int64_t Int8PanelOf(int64_t depth) {
  const int64_t panels = std::max<int64_t>(1, (depth - 1) / kInt8Panel + 1);
  return ((depth - 1) / panels / kInt8Step + 1) * kInt8Step;
}

// Adds four products to each of 16 sums. Compilers move sums from register to register around the
// intrinsic function, which takes twice as long as the products.
__attribute__((target(OPCAST_AVX512_VNNI))) inline void AddProducts(const __m512i& unsigned_bytes,
                                                                    const __m512i& signed_bytes,
                                                                    __m512i* sums) {
  asm("vpdpbusd %2, %1, %0" : "+v"(*sums) : "v"(unsigned_bytes), "v"(signed_bytes));
}

// The lanes of each of 16 vectors added up: as many lanes, in the order of the vectors.
__attribute__((target(OPCAST_AVX512_VNNI))) inline __m512i AddInt8Lanes(__m512i* all) {
  constexpr __mmask16 kAll = 0xffff;
  constexpr __mmask8 kHalf = 0xff;
  constexpr int kEven = 0b10001000, kOdd = 0b11011101;  // of the quarters of both
#pragma GCC unroll 8
  for (int v = 0; v < 8; ++v)
    all[v] = _mm512_add_epi32(_mm512_maskz_unpacklo_epi32(kAll, all[2 * v], all[2 * v + 1]),
                              _mm512_maskz_unpackhi_epi32(kAll, all[2 * v], all[2 * v + 1]));
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v)
    all[v] = _mm512_add_epi32(_mm512_maskz_unpacklo_epi64(kHalf, all[2 * v], all[2 * v + 1]),
                              _mm512_maskz_unpackhi_epi64(kHalf, all[2 * v], all[2 * v + 1]));
#pragma GCC unroll 3
  for (int v = 0; v < 3; ++v) {  // two pairs, and then what became of them
    const int from = v < 2 ? 2 * v : 0;
    all[v < 2 ? v : 0] =
        _mm512_add_epi32(_mm512_maskz_shuffle_i32x4(kAll, all[from], all[from + 1], kEven),
                         _mm512_maskz_shuffle_i32x4(kAll, all[from], all[from + 1], kOdd));
  }
  return all[0];
}

// The rows of a tile, packed: the places of a step of all of them follow each other, zeros for what
// is missing. So they lie on lines of the cache, and not all on the same few, as rows a multiple of
// 4096 bytes apart would.
//
// With kFlip, each number plus 128, and the same places of the next tile are asked for; else
// sums[r] is 128 times the sum of a row.
template <bool kFlip>
__attribute__((target(OPCAST_AVX512_VNNI))) inline void PackInt8(const Int8Rows& from,
                                                                 int64_t first, int64_t count,
                                                                 int64_t k, int64_t places,
                                                                 int8_t* to, int32_t* sums) {
  const __m512i signs = _mm512_set1_epi32(static_cast<int>(0x80808080));
  const __m512i ones = _mm512_set1_epi32(0x01010101);
  for (int64_t r = 0; r < kInt8Tile; ++r) {
    const int8_t* const row = from.at + (first + r) * from.depth + k;
    __m512i sum[kInt8Tile * kInt8Tile] = {};
    for (int64_t p = 0; p < places; p += kInt8Step) {
      const int64_t left = std::min(kInt8Step, places - p);
      const __mmask64 mask = r < count ? ~(~__mmask64{1} << (left - 1)) : 0;
      __m512i bytes = _mm512_maskz_loadu_epi8(mask, row + p);
      if constexpr (kFlip) {
        _mm_prefetch(reinterpret_cast<const char*>(row + p + kInt8Tile * from.depth), _MM_HINT_T1);
        bytes = _mm512_xor_si512(bytes, signs);
      } else {
        AddProducts(ones, bytes, sum);
      }
      _mm512_store_si512(to + (p / kInt8Step * kInt8Tile + r) * kInt8Step, bytes);
    }
    if constexpr (!kFlip) {
      const __m512i total = AddInt8Lanes(sum);
      std::memcpy(sums + r, &total, sizeof *sums);
      sums[r] *= 128;
    }
  }
}

// Adds to sums[i][j] the sum over so many steps of packed rows of a[i] * (b[j] + 128), less
// of_rows[i].
__attribute__((target(OPCAST_AVX512_VNNI))) inline void MultiplyInt8(const int8_t* a,
                                                                     const int8_t* b, int64_t steps,
                                                                     const int32_t* of_rows,
                                                                     int64_t rows, int64_t columns,
                                                                     double* sums) {
  __m512i all[kInt8Tile * kInt8Tile];
#pragma GCC unroll 16
  for (int v = 0; v < kInt8Tile * kInt8Tile; ++v) all[v] = _mm512_setzero_si512();
  for (; steps > 0; --steps, a += kInt8Tile * kInt8Step, b += kInt8Tile * kInt8Step) {
    __m512i right[kInt8Tile];
#pragma GCC unroll 4
    for (int64_t j = 0; j < kInt8Tile; ++j) right[j] = _mm512_load_si512(b + j * kInt8Step);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kInt8Tile; ++i) {
      const __m512i left = _mm512_load_si512(a + i * kInt8Step);
#pragma GCC unroll 4
      for (int64_t j = 0; j < kInt8Tile; ++j) AddProducts(right[j], left, &all[i * kInt8Tile + j]);
    }
  }
  alignas(64) int32_t tile[kInt8Tile][kInt8Tile];
  _mm512_store_si512(tile, AddInt8Lanes(all));
  if (rows == kInt8Tile && columns == kInt8Tile) {
    for (int64_t r = 0; r < kInt8Tile; ++r, sums += kBlockColumns) {
      const __m128i whole = _mm_sub_epi32(_mm_load_si128(reinterpret_cast<const __m128i*>(tile[r])),
                                          _mm_set1_epi32(of_rows[r]));
      _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), _mm256_cvtepi32_pd(whole)));
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) sums[r * kBlockColumns + c] += tile[r][c] - of_rows[r];
  }
}

// Adds the products of a block.
inline void AddInt8Block(const Int8Rows& a, const Int8Rows& b, const Block& block,
                         PanelSpace* space) {
  auto *const left = reinterpret_cast<int8_t*>(space->a),
              *right = reinterpret_cast<int8_t*>(space->b);
  const int64_t panel = Int8PanelOf(a.depth);
  for (int64_t k = 0; k < a.depth; k += panel) {
    const int64_t places = std::min(panel, a.depth - k);
    const int64_t steps = (places - 1) / kInt8Step + 1;
    int32_t of_rows[kBlockRows + kInt8Tile];
    for (int64_t i = 0; i < block.rows; i += kInt8Tile)
      PackInt8<false>(a, block.i + i, block.rows - i, k, places, left + i * steps * kInt8Step,
                      of_rows + i);
    for (int64_t j = 0; j < block.columns; j += kInt8Tile) {
      const int64_t columns = std::min(kInt8Tile, block.columns - j);
      PackInt8<true>(b, block.j + j, columns, k, places, right, nullptr);
      for (int64_t i = 0; i < block.rows; i += kInt8Tile)
        MultiplyInt8(left + i * steps * kInt8Step, right, steps, of_rows + i,
                     std::min(kInt8Tile, block.rows - i), columns, &space->sums[i][j]);
    }
  }
}

// What ForMadeBlocks does, for factors of int8.
template <class Finish>
void ForInt8Blocks(const opcast::Launch& launch, const Blocks& blocks, const int8_t* a,
                   const int8_t* b, Finish finish) {
  const Int8Rows left{a, blocks.Depth()}, right{b, blocks.Depth()};
  const auto body = [&](int64_t first, int64_t last, auto width) {
    PanelSpace* const space = PanelsOfThread();
    for (int64_t index = first; index < last; ++index) {
      const Block block = blocks.At(index);
      for (int64_t i = 0; i < block.rows; ++i) std::fill_n(space->sums[i], block.columns, 0.0);
      AddInt8Block(left, right, block, space);
      finish(block, space->sums, width);
    }
  };
  opcast::ParallelFor(launch, blocks.Count(), blocks.PerChunk(), body);
}

#endif

}  // namespace opcast_ops
