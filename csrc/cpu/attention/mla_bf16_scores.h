// Scores of a step of attention by dot product instructions for bfloat16 (see mla_step.h).
//
// Queries, rotary columns and codes of FP8 are numbers of bfloat16, so their products are exact; a
// group of columns of a row has one scale, which multiplies the sum of the group. Lanes are heads,
// or four rows of each of a few heads; sums are the same. So rows lie in fours, pairs side by side.
//
// The instructions take numbers below 2^-126 for zero, and a product must not overflow before it is
// scaled: heads and rows whose numbers are not between the bounds below have scores from floats. A
// score depends on its head and its row only, and so does the way in which it is computed.
#pragma once

#include "cpu/attention/mla_step.h"
#include "cpu/lib/gemm_bf16_pairs.h"
#include "cpu/lib/gemm_packing.h"

namespace opcast_ops {

constexpr int64_t kGroup = 64, kGroups = kColumns / kGroup;  // columns with one scale
constexpr int64_t kFour = 4;                                 // rows that lie side by side

// Memory of a thread: what the instructions read. Pairs are two columns of bfloat16.
struct alignas(64) PairSpace {
  static constexpr int64_t kLanes = 16, kFew = 12;  // heads that are few
  static constexpr int kTall = 8, kWide = 4;        // rows, or fours, of tiles

  float queries[kColumns / 2 * kHeads];             // a line of lanes for each pair
  float codes[kRows / kFour][kColumns / 2][kFour];  // pairs, not yet scaled
  float scales[kRows / kFour][kGroups][kFour];
  float scores[kRows][kHeads];  // a line for each row, or for four
  bool head_fits[kHeads], row_fits[kRows];
  int64_t heads, lanes;  // in whole vectors

  bool Few() const { return heads <= kFew; }

  // How many lanes a head has.
  int64_t Each() const { return Few() ? kFour : 1; }

  float Score(int64_t h, int64_t i) const { return scores[i / Each()][h * Each() + i % Each()]; }

  // Begins with so many heads.
  void Begin(int64_t count) {
    heads = count;
    lanes = (heads * Each() + kLanes - 1) / kLanes * kLanes;
    std::fill_n(queries, kColumns / 2 * lanes, 0.0f);
  }

  // Makes numbers of what tiles read beyond so many rows.
  void End(int64_t count) {
    for (int64_t four = (count + kFour - 1) / kFour; four % kTall != 0; ++four) {
      std::fill_n(codes[four][0], kColumns / 2 * kFour, 0.0f);
      std::fill_n(scales[four][0], kGroups * kFour, 0.0f);
    }
  }
};

#if defined(__x86_64__)

// Whether all numbers but zeros are between 2^-50 and 2^most, of whole vectors.
__attribute__((target(OPCAST_AVX512))) inline bool Fit(const opcast::bf16* numbers, int64_t n,
                                                       int most) {
  constexpr int kBias = 127, kLeast = -50, kMantissa = 7;
  const __m512i least = _mm512_set1_epi16((kBias + kLeast) << kMantissa);
  const __m512i beyond = _mm512_set1_epi16(static_cast<int16_t>((kBias + most + 1) << kMantissa));
  __mmask32 fit = ~__mmask32{0};
  for (int64_t i = 0; i < n; i += 32) {
    const __m512i magnitude =
        _mm512_and_si512(_mm512_loadu_si512(numbers + i), _mm512_set1_epi16(0x7fff));
    const __m512i less = _mm512_sub_epi16(magnitude, _mm512_set1_epi16(1));  // 0 becomes 65535
    fit = _mm512_mask_cmpge_epu16_mask(fit, less, least);
    fit = _mm512_mask_cmplt_epu16_mask(fit, magnitude, beyond);
  }
  return ~fit == 0;
}

// Keeps the queries of some heads. Returns whether all fit.
inline bool KeepQueries(const opcast::bf16* q, int64_t heads, PairSpace* space) {
  constexpr int kMost = 100;
  bool all_fit = true;
  space->Begin(heads);
  for (int64_t h = 0; h < heads; ++h, q += kColumns) {
    all_fit &= space->head_fits[h] = Fit(q, kColumns, kMost);
    for (int64_t p = 0; p < kColumns / 2; ++p) {
      float pair;
      std::memcpy(&pair, q + 2 * p, sizeof pair);
      std::fill_n(space->queries + p * space->lanes + h * space->Each(), space->Each(), pair);
    }
  }
  return all_fit;
}

// What a vector takes of numbers that lie in fours: one of them for all lanes.
struct OneOfFour {
  static constexpr int64_t kRowsEach = 1;

  template <int kWidth>
  static void Load(const float* fours, int64_t i, Vector<kWidth>* to) {
    Fill(fours[i * kFour], to);
  }
};

// All of them, again and again.
struct AllFour {
  static constexpr int64_t kRowsEach = kFour;

  template <int kWidth>
  __attribute__((target(OPCAST_AVX512))) static void Load(const float* fours, int64_t i,
                                                          Vector<64>* to) {
    *to = _mm512_maskz_broadcast_f32x4(kAll, _mm_loadu_ps(fours + i * kFour));
  }
};

// Adds the products of a group of columns, for kM times a row, or four, and kVectors vectors.
template <class Layout, int kM, int kVectors>
inline void ScoreGroup(int64_t group, int64_t row, int64_t lane, PairSpace* space) {
  const float* codes[kM];
  const float* scales[kM];
  for (int r = 0; r < kM; ++r) {
    const int64_t at = row + r * Layout::kRowsEach;
    codes[r] = &space->codes[at / kFour][group * kGroup / 2][at % kFour];
    scales[r] = &space->scales[at / kFour][group][at % kFour];
  }
  SpreadTile<64, kM, kVectors> tile;
  tile.template Add<Pairs, Layout>(codes, space->queries + group * kGroup / 2 * space->lanes + lane,
                                   space->lanes, kGroup / 2);
  tile.template AddTo<Layout>(&space->scores[row / Layout::kRowsEach][lane], kHeads, scales);
}

// Adds the products of a group of columns for all rows.
template <class Layout, int kM, int kVectors>
inline void ScoreLanes(int64_t group, int64_t count, int64_t lane, PairSpace* space) {
  for (int64_t i = 0; i < count; i += kM * Layout::kRowsEach)
    ScoreGroup<Layout, kM, kVectors>(group, i, lane, space);
}

// Makes scores of a step, not yet scaled by sm_scale, in space->scores.
__attribute__((noinline, flatten, target(OPCAST_AVX512_BF16))) inline void ScorePairs(
    int64_t count, PairSpace* space) {
  constexpr int64_t kLanes = PairSpace::kLanes;
  constexpr int kTall = PairSpace::kTall, kWide = PairSpace::kWide, kVectors = 4;
  for (auto& line : space->scores) std::fill_n(line, space->lanes, 0.0f);
  for (int64_t group = 0; group < kGroups; ++group) {
    int64_t lane = 0;
    if (space->Few()) {
      for (; lane < space->lanes; lane += kLanes)
        ScoreLanes<AllFour, kTall, 1>(group, count, lane, space);
    }
    for (; lane + kLanes * (kVectors - 1) < space->lanes; lane += kLanes * kVectors)
      ScoreLanes<OneOfFour, kWide, kVectors>(group, count, lane, space);
    for (; lane < space->lanes; lane += kLanes)
      ScoreLanes<OneOfFour, kTall, 1>(group, count, lane, space);
  }
}

template <size_t... kLine>
inline void TurnSquare(const float* from, float* to, std::index_sequence<kLine...>) {
  Vector<64> square[] = {*reinterpret_cast<const Vector<64>*>(from + kLine * kHeads)...};
  Transpose<64>(square);
  ((*reinterpret_cast<Vector<64>*>(to + kLine * kRows) = square[kLine]), ...);
}

// Writes the scores to `to`, a line for each head, where head and row fit.
__attribute__((noinline, flatten, target(OPCAST_AVX512))) inline void TurnScores(
    int64_t count, bool all_fit, const PairSpace& space, float (*to)[kRows]) {
  if (!all_fit) {
    for (int64_t h = 0; h < space.heads; ++h) {
      for (int64_t i = 0; i < count; ++i)
        if (space.head_fits[h] && space.row_fits[i]) to[h][i] = space.Score(h, i);
    }
    return;
  }
  if (space.Few()) {
    for (int64_t h = 0; h < space.heads; ++h) {
      for (int64_t i = 0; i < count; i += kFour)
        std::copy_n(space.scores[i / kFour] + h * kFour, kFour, to[h] + i);
    }
    return;
  }
  constexpr int64_t kLanes = PairSpace::kLanes;
  for (int64_t h = 0; h < space.heads; h += kLanes) {
    for (int64_t i = 0; i < count; i += kLanes)
      TurnSquare(&space.scores[i][h], &to[h][i], std::make_index_sequence<kLanes>());
  }
}

#endif

}  // namespace opcast_ops
