// Scores of a step of attention by dot product instructions for bfloat16 (see attention_step.h).
//
// Queries, rotary columns and codes of FP8 are numbers of bfloat16, so their products are exact; a
// group of columns of a row has one scale, which multiplies the sum of the group. Lanes are heads.
// The instructions take numbers below 2^-126 for zero, and a product must not overflow before it is
// scaled: heads and rows whose numbers are not between the bounds below have scores from floats. A
// score depends on its head and its row only, and so does the way in which it is computed.
#pragma once

#include "attention_step.h"
#include "product_pack.h"
#include "product_pairs.h"

namespace opcast_ops {

constexpr int64_t kGroup = 64, kGroups = kColumns / kGroup;  // columns with one scale

// Memory of a thread: what the instructions read. Pairs are two columns of bfloat16.
struct alignas(64) PairSpace {
  float queries[kColumns / 2][kHeads];  // pairs
  float codes[kRows][kColumns / 2];     // pairs of a row, not yet scaled
  float scales[kRows][kGroups];
  float scores[kRows][kHeads];
  bool head_fits[kHeads], row_fits[kRows];

  opcast::bf16* Codes(int64_t row) { return reinterpret_cast<opcast::bf16*>(codes[row]); }

  // Makes numbers of all that is read.
  void Clear() {
    std::fill_n(queries[0], kColumns / 2 * kHeads, 0.0f);
    std::fill_n(codes[0], kRows * kColumns / 2, 0.0f);
    std::fill_n(scales[0], kRows * kGroups, 0.0f);
  }
};

#if defined(__x86_64__)

// Whether all numbers but zeros are between 2^-50 and 2^most.
__attribute__((target(OPCAST_AVX512))) inline bool Fit(const opcast::bf16* numbers, int64_t n,
                                                       int most) {
  constexpr int64_t kNumbers = 32;  // of a vector
  constexpr int kBias = 127, kLeast = -50;
  Magnitudes magnitudes;
  for (int64_t i = 0; i < n; i += kNumbers) {
    Vector<64> vector;
    std::memcpy(&vector, numbers + i, sizeof vector);
    magnitudes.Note(vector);
  }
  return magnitudes.Smallest() >= kBias + kLeast && magnitudes.Largest() <= kBias + most;
}

// Keeps the queries of some heads, side by side. Returns whether all fit.
inline bool KeepQueries(const opcast::bf16* q, int64_t heads, PairSpace* space) {
  constexpr int kMost = 100;
  bool all_fit = true;
  space->Clear();
  for (int64_t h = 0; h < heads; ++h, q += kColumns) {
    all_fit &= space->head_fits[h] = Fit(q, kColumns, kMost);
    for (int64_t p = 0; p < kColumns / 2; ++p)
      std::memcpy(&space->queries[p][h], q + 2 * p, sizeof(float));
  }
  return all_fit;
}

// Adds the products of a group of columns, for kM rows and kVectors vectors of heads.
template <int kM, int kVectors>
inline void ScoreGroup(int64_t group, int64_t row, int64_t head, PairSpace* space) {
  const float* codes[kM];
  float scales[kM];
  for (int r = 0; r < kM; ++r) {
    codes[r] = space->codes[row + r] + group * kGroup / 2;
    scales[r] = space->scales[row + r][group];
  }
  SpreadTile<64, kM, kVectors> tile;
  tile.template Add<Pairs>(codes, space->queries[group * kGroup / 2] + head, kHeads, kGroup / 2);
  tile.AddTo(&space->scores[row][head], kHeads, scales);
}

// Makes scores of a step, not yet scaled by sm_scale, in space->scores.
__attribute__((noinline, flatten, target(OPCAST_AVX512_BF16))) inline void ScorePairs(
    int64_t heads, int64_t count, PairSpace* space) {
  constexpr int kLanes = 16, kFewRows = 8, kVectors = 4, kManyRows = 4;
  std::fill_n(space->scores[0], kRows * kHeads, 0.0f);
  for (int64_t group = 0; group < kGroups; ++group) {
    int64_t h = 0;
    for (; h + kLanes * (kVectors - 1) < heads; h += kLanes * kVectors) {
      for (int64_t i = 0; i < count; i += kManyRows)
        ScoreGroup<kManyRows, kVectors>(group, i, h, space);
    }
    for (; h < heads; h += kLanes) {
      for (int64_t i = 0; i < count; i += kFewRows) ScoreGroup<kFewRows, 1>(group, i, h, space);
    }
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
    int64_t heads, int64_t count, bool all_fit, const PairSpace& space, float (*to)[kRows]) {
  constexpr int64_t kLanes = 16;
  if (!all_fit) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < count; ++i)
        if (space.head_fits[h] && space.row_fits[i]) to[h][i] = space.scores[i][h];
    }
    return;
  }
  for (int64_t h = 0; h < heads; h += kLanes) {
    for (int64_t i = 0; i < count; i += kLanes)
      TurnSquare(&space.scores[i][h], &to[h][i], std::make_index_sequence<kLanes>());
  }
}

#endif

}  // namespace opcast_ops
