// Sums of products of int8, for machines that multiply and add four bytes at once (VNNI).
//
// These instructions take one factor without a sign: b + 128, so that 128 times the sum of a's row
// is subtracted from what they add up. All sums are exact: of a panel of the depth as integers, of
// all panels in double. So bits are those of any other way to compute them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "product_made.h"

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

constexpr int64_t kInt8Tile = 4;    // rows and columns whose sums are in registers
constexpr int64_t kInt8Group = 32;  // of a that are multiplied by all columns of a block
constexpr int64_t kInt8Step = 64;   // places that an instruction takes
constexpr int64_t kInt8Slab =
    64;  // columns whose panel stays in the second cache, with all rows of a
constexpr int64_t kInt8Panel = 2048;  // places: a few rows of a panel stay in the nearest cache

// The places of a panel: about kInt8Panel, since a short one would take as long to add up.
inline int64_t Int8PanelOf(int64_t depth) {
  const int64_t panels = std::max<int64_t>(1, (depth + kInt8Panel / 4) / kInt8Panel);
  return ((depth - 1) / panels / kInt8Step + 1) * kInt8Step;
}

using Int8Sums = int32_t[kInt8Tile];  // of a row of a tile

// Where the rows of a tile begin; of fewer than kInt8Tile, the last one stands for the others.
struct Int8Tile {
  const int8_t* rows[kInt8Tile];

  Int8Tile(const Int8Rows& all, int64_t first, int64_t count, int64_t k) {
    for (int64_t r = 0; r < kInt8Tile; ++r)
      rows[r] = all.at + (first + std::min(r, count - 1)) * all.depth + k;
  }
};

// Rows, and how many bytes behind them are those to be fetched.
struct Int8Ahead {
  const int8_t* const* rows;
  int64_t bytes;
};

// Loads the numbers of a step, zeros in place of those that the mask leaves out.
template <bool kAll>
__attribute__((target(OPCAST_AVX512_VNNI))) inline __m512i LoadInt8(const int8_t* from,
                                                                    __mmask64 mask) {
  return kAll ? _mm512_loadu_si512(from) : _mm512_maskz_loadu_epi8(mask, from);
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

// Adds the products of (b[j] + 128) and a[i] at the 64 places from k on, or those in the mask.
template <bool kAll>
__attribute__((target(OPCAST_AVX512_VNNI))) inline void AddInt8Step(
    const Int8Tile& a, const Int8Tile& b, int64_t k, __mmask64 mask,
    __m512i (&sums)[kInt8Tile * kInt8Tile]) {
  const __m512i signs = _mm512_set1_epi32(static_cast<int>(0x80808080));
  __m512i right[kInt8Tile];
#pragma GCC unroll 4
  for (int64_t j = 0; j < kInt8Tile; ++j)
    right[j] = _mm512_xor_si512(LoadInt8<kAll>(b.rows[j] + k, mask), signs);
#pragma GCC unroll 4
  for (int64_t i = 0; i < kInt8Tile; ++i) {
    const __m512i left = LoadInt8<kAll>(a.rows[i] + k, mask);
#pragma GCC unroll 4
    for (int64_t j = 0; j < kInt8Tile; ++j) AddProducts(right[j], left, &sums[i * kInt8Tile + j]);
  }
}

// sums[i][j] = the sum over so many places of (b[j] + 128) * a[i]. Asks for places of kAhead more
// rows, since the CPU cannot guess them.
template <int kAhead>
__attribute__((target(OPCAST_AVX512_VNNI))) inline void MultiplyInt8(
    const Int8Tile& a, const Int8Tile& b, int64_t places, const Int8Ahead& ahead, Int8Sums* sums) {
  __m512i all[kInt8Tile * kInt8Tile];
#pragma GCC unroll 16
  for (int v = 0; v < kInt8Tile * kInt8Tile; ++v) all[v] = _mm512_setzero_si512();
  int64_t k = 0;
  for (; k + kInt8Step <= places; k += kInt8Step) {
#pragma GCC unroll 4
    for (int64_t j = 0; j < kAhead; ++j)
      _mm_prefetch(reinterpret_cast<const char*>(ahead.rows[j]) + ahead.bytes + k, _MM_HINT_T1);
    AddInt8Step<true>(a, b, k, 0, all);
  }
  if (k < places) AddInt8Step<false>(a, b, k, ~(~__mmask64{1} << (places - k - 1)), all);
  const __m512i total = AddInt8Lanes(all);
  std::memcpy(sums, &total, sizeof total);
}

// 128 times the sum of each of a block's rows of a, at so many places from k on.
__attribute__((target(OPCAST_AVX512_VNNI))) inline void SumInt8Rows(const Int8Rows& a,
                                                                    const Block& block, int64_t k,
                                                                    int64_t places, int32_t* sums) {
  for (int64_t i = 0; i < block.rows; ++i) {
    const int8_t* const row = a.at + (block.i + i) * a.depth + k;
    int32_t sum = 0;
    for (int64_t p = 0; p < places; ++p) sum += row[p];
    sums[i] = 128 * sum;
  }
}

// Adds the products of a block's rows at these places. sums are those of its first row, from the
// first column on.
inline void AddInt8Panel(const Int8Rows& a, const Int8Rows& b, const Block& block, int64_t k,
                         int64_t places, const int32_t* of_rows, double* sums) {
  for (int64_t j = 0; j < block.columns; j += kInt8Tile) {
    const int64_t columns = std::min(kInt8Tile, block.columns - j);
    const Int8Tile right(b, block.j + j, columns, k);
    for (int64_t i = 0; i < block.rows; i += kInt8Tile) {
      const int64_t rows = std::min(kInt8Tile, block.rows - i);
      Int8Sums tile[kInt8Tile];
      const Int8Tile left(a, block.i + i, rows, k);
      // The next columns are fetched by all tiles of these together, if there are enough.
      const int64_t next = kInt8Tile * b.depth;
      if (block.rows > (kInt8Tile - 1) * kInt8Tile)
        MultiplyInt8<1>(left, right, places, {right.rows + i / kInt8Tile % kInt8Tile, next}, tile);
      else
        MultiplyInt8<kInt8Tile>(left, right, places, {right.rows, next}, tile);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c)
          sums[(i + r) * kBlockColumns + j + c] += tile[r][c] - of_rows[i + r];
      }
    }
  }
}

// Those of all panels.
inline void AddInt8Block(const Int8Rows& a, const Int8Rows& b, const Block& block, WideSums* sums) {
  const int64_t panel = Int8PanelOf(a.depth);
  for (int64_t k = 0; k < a.depth; k += panel) {
    const int64_t places = std::min(panel, a.depth - k);
    int32_t of_rows[kBlockRows];
    SumInt8Rows(a, block, k, places, of_rows);
    for (int64_t j = 0; j < block.columns; j += kInt8Slab) {
      for (int64_t i = 0; i < block.rows; i += kInt8Group) {
        const Block part{block.i + i, std::min(kInt8Group, block.rows - i), block.j + j,
                         std::min(kInt8Slab, block.columns - j)};
        AddInt8Panel(a, b, part, k, places, of_rows + i, &sums[i][j]);
      }
    }
  }
}

// What ForMadeBlocks does, for factors of int8.
template <class Finish>
void ForInt8Blocks(const opcast::Launch& launch, const Blocks& blocks, const int8_t* a,
                   const int8_t* b, Finish finish) {
  const Int8Rows left{a, blocks.Depth()}, right{b, blocks.Depth()};
  const auto body = [&](int64_t first, int64_t last, auto width) {
    WideSums* const sums = PanelsOfThread()->sums;
    for (int64_t index = first; index < last; ++index) {
      const Block block = blocks.At(index);
      for (int64_t i = 0; i < block.rows; ++i) std::fill_n(sums[i], block.columns, 0.0);
      AddInt8Block(left, right, block, sums);
      finish(block, sums, width);
    }
  };
  opcast::ParallelFor(launch, blocks.Count(), blocks.PerChunk(), body);
}

#endif

}  // namespace opcast_ops
