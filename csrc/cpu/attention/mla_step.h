// A step of attention for one position: the queries of some heads meet some rows of a cache, which
// are both keys and values.
//
// Numbers are float: scores are sums of products in lanes (see gemm_tile.h), rows are added in
// order (see weighted_rows_tile.h). The largest score, what scores lack to it, and sums of weights
// are double: a score may be large, and what it lacks small.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/lib/exp.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/weighted_rows_tile.h"

namespace opcast_ops {

constexpr int64_t kColumns = 512;            // columns of a row
constexpr int64_t kHeads = 128, kRows = 64;  // a step: so many heads meet so many rows
constexpr int64_t kSpare = 4;                // heads that tiles read beyond the last
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Results of rows for one head: the mean of the rows by their weights, once divided by the sum.
// Weights are e^(score - largest).
struct Mean {
  float* sums = nullptr;
  double largest = -kInfinity, sum = 0;
  int64_t columns = kColumns;

  // Makes room for scores up to `score`. Returns what to subtract from scores: while all scores are
  // -inf, weights are zero, as they are once there is a finite score.
  template <int kVector>
  double Raise(double score) {
    const double before = largest;
    largest = std::max(largest, score);
    const double base = largest == -kInfinity ? 0 : largest;
    const float shrink = Exp<kVector>(static_cast<float>(before - base));
    if (shrink != 1) {
      for (int64_t j = 0; j < columns; ++j) sums[j] *= shrink;
      sum *= shrink;
    }
    return base;
  }

  void Multiply(double factor) {
    const float narrow = static_cast<float>(factor);
    for (int64_t j = 0; j < columns; ++j) sums[j] *= narrow;
  }

  // The logarithm of the sum of e^score.
  double Lse() const { return largest + std::log(sum); }
};

// Memory of a thread. Other spaces have the same members, with widths of their own: how many
// columns of a row scores are sums over, how many are added up, and how far rows are apart.
struct alignas(64) Space {
  static constexpr int64_t kDepth = kColumns, kValues = kColumns, kStride = kColumns;

  float q[kHeads + kSpare][kColumns], rows[kRows][kColumns];
  float sums[kHeads + kSpare][kColumns], totals[kHeads][kColumns];  // of a split, of all splits
  float weights[kHeads + kSpare][kRows];                            // of a step; scores before

  // Makes numbers of all that is read, and of sums of splits zero.
  void Clear(int64_t heads) {
    std::fill_n(q[heads], kSpare * kColumns, 0.0f);
    std::fill_n(sums[heads], kSpare * kColumns, 0.0f);
    std::fill_n(totals[0], heads * kColumns, 0.0f);
    std::fill_n(weights[heads], kSpare * kRows, 0.0f);
  }
};

// Rows of kColumns floats, for a tile.
template <int kVector>
struct StepRows {
  const float* at;
  int64_t stride;

  template <class = void>
  void Load(int row, Vector<kVector>* to) const {
    *to = *reinterpret_cast<const Vector<kVector>*>(at + row * stride);
  }
  template <class = void>
  void Next() {
    at += TileShape<kVector>::kLanes;
  }
};

// Adds the products of kM heads, the last ones maybe missing, and all rows to their scores.
template <int kVector, int kM, class Space>
inline void ScoreHeads(int64_t head, int64_t heads, int64_t count, Space& space) {
  using Shape = TileShape<kVector>;
  for (int64_t i = 0; i < count; i += Shape::kN) {
    Tile<kVector, kM, Shape::kN> tile;
    tile.Add(StepRows<kVector>{space.q[head], space.kStride},
             StepRows<kVector>{space.rows[i], space.kStride}, space.kDepth / Shape::kLanes);
    Totals<kM, Shape::kN> totals;
    tile.AddUp(&totals);
    totals.AddTo(heads - head, count - i, &space.weights[head][i], kRows);
  }
}

// Makes scores of a step, not yet scaled.
template <int kVector, class Space>
inline void Score(int64_t heads, int64_t count, Space& space) {
  constexpr int kM = TileShape<kVector>::kM;
  std::fill_n(space.weights[0], heads * kRows, 0.0f);
  if (heads == 1) return ScoreHeads<kVector, 1>(0, heads, count, space);
  if (heads == 2) return ScoreHeads<kVector, 2>(0, heads, count, space);
  for (int64_t h = 0; h < heads; h += kM) ScoreHeads<kVector, kM>(h, heads, count, space);
}

// Makes weights of one head's scores. Those of rows that are not there are zero.
template <int kVector>
inline void Weigh(double scale, int64_t count, float* weights, Mean* mean) {
  const double base = mean->Raise<kVector>(scale * Max<kVector>(count, weights));
  for (int64_t i = 0; i < kRows; ++i) weights[i] = static_cast<float>(scale * weights[i] - base);
  std::fill(weights + count, weights + kRows, static_cast<float>(-kInfinity));
  for (int64_t i = 0; i < kRows; ++i) weights[i] = Exp<kVector>(weights[i]);
  mean->sum += Sum(kRows, [weights](int64_t i) { return double{weights[i]}; });
}

// Adds the rows of a step for kM heads, by tiles with as many sums as there are for more heads.
template <int kVector, int kM, class Space>
inline void AddHeads(int64_t head, int64_t count, Space& space) {
  using Shape = SpreadShape<kVector>;
  constexpr int kVectors = Shape::kM / kM * Shape::kVectors;
  const float* weights[kM];
  for (int i = 0; i < kM; ++i) weights[i] = space.weights[head + i];
  for (int64_t j = 0; j < space.kValues; j += kVectors * TileShape<kVector>::kLanes) {
    SpreadTile<kVector, kM, kVectors> tile;
    tile.Add(weights, space.rows[0] + j, space.kStride, count);
    tile.AddTo(space.sums[head] + j, space.kStride);
  }
}

// Adds the `count` rows in space.rows, whose scores are in space.weights.
template <int kVector, class Space>
inline void AddRows(double scale, int64_t heads, int64_t count, Space& space, Mean* means) {
  for (int64_t h = 0; h < heads; ++h) Weigh<kVector>(scale, count, space.weights[h], &means[h]);
  if (heads == 1) return AddHeads<kVector, 1>(0, count, space);
  if (heads == 2) return AddHeads<kVector, 2>(0, count, space);
  using Shape = SpreadShape<kVector>;
  for (int64_t j = 0; j < space.kValues; j += Shape::kColumns) {
    for (int64_t h = 0; h < heads; h += Shape::kM) {
      const float* weights[Shape::kM];
      for (int i = 0; i < Shape::kM; ++i) weights[i] = space.weights[h + i];
      SpreadTile<kVector, Shape::kM, Shape::kVectors> tile;
      tile.Add(weights, space.rows[0] + j, space.kStride, count);
      tile.AddTo(space.sums[h] + j, space.kStride);
    }
  }
}

// Adds a mean of other rows, with the logarithm of its sum.
template <int kVector>
inline void AddMean(const float* other, float lse, Mean* mean) {
  const float weight = Exp<kVector>(static_cast<float>(lse - mean->Raise<kVector>(lse)));
  for (int64_t j = 0; j < mean->columns; ++j)
    mean->sums[j] = Fma<kVector>(weight, other[j], mean->sums[j]);
  mean->sum += weight;
}

}  // namespace opcast_ops
