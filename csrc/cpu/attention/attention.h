// Attention of a block of rows over the keys of one sequence. A row is a query of one head; the
// heads that share keys lie side by side, so that a block of few queries has many rows.
//
// Keys are taken in steps, as in "FlashAttention" (Dao et al., 2022): products of the rows and the
// keys are scores, their exponentials relative to the largest so far are weights, and products of
// weights and values are added to what there is, made smaller whenever a larger score comes.
// Products are those of gemm_blocks.h; the largest score, what scores lack to it, and sums of
// weights are double, all else is float, rounded once. Steps begin at multiples of their length,
// and a row adds zeros for keys that it does not see, which change no bit: it depends neither on
// the other rows nor on the number of threads.
#pragma once

#include <cmath>
#include <memory>

#include "cpu/attention/visible_keys.h"
#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/row_reductions.h"

namespace opcast_ops {

constexpr int64_t kStepKeys = kBlockColumns;  // keys of a step

// The rows of some heads of one sequence, and where their results go.
struct Queries {
  Factor q;       // a line for each row
  int64_t group;  // rows of a query
  int64_t depth;  // numbers of a query, and of a key
  Sight sight;
  Scores scores;
  const float* sinks;  // of the heads, or null
  int64_t columns;     // of values
  opcast::DType type;
  void* o;
  float* lse;
  int64_t first, heads;  // place of the first row, and rows from one query to the next

  int64_t Count() const { return sight.queries * group; }
  KeyRange Seen(int64_t row) const { return sight.Of(row / group); }
  int64_t Place(int64_t row) const { return first + row / group * heads + row % group; }
};

// Keys and values of a step, as factors whose first lines are those of its first key.
struct StepFactors {
  Factor k, v;
};

// Memory of a thread.
struct AttentionSpace {
  alignas(64) float weights[kBlockRows][kStepKeys];
  alignas(64) float sums[kBlockRows][kBlockColumns];
  double largest[kBlockRows], sum[kBlockRows];
  KeyRange seen[kBlockRows];
};

// That of this thread, until it ends.
inline AttentionSpace* AttentionSpaceOfThread() {
  thread_local const std::unique_ptr<AttentionSpace> space(new AttentionSpace);
  return space.get();
}

// A block of rows, for a block of columns of the values. Keys says where keys are:
// keys(first, count) returns a step's StepFactors.
template <int kVector, class Keys>
class Attention {
 public:
  Attention(const Queries& queries, Keys* keys)
      : queries_(queries),
        keys_(*keys),
        space_(*AttentionSpaceOfThread()),
        product_(*SpaceOfThread()) {}

  // Computes the results of `rows` rows from `row` on.
  void Run(int64_t row, int64_t rows) {
    row_ = row, rows_ = rows;
    int64_t begin = queries_.sight.keys, end = 0;
    for (int64_t r = 0; r < rows; ++r) {
      const KeyRange seen = space_.seen[r] = queries_.Seen(row + r);
      if (seen.Empty()) continue;
      begin = std::min(begin, seen.begin), end = std::max(end, seen.end);
    }
    column_ = 0;
    do {
      columns_ = std::min(kBlockColumns, queries_.columns - column_);
      Begin();
      for (int64_t at = begin / kStepKeys * kStepKeys; at < end; at += kStepKeys)
        Step(at, std::min(kStepKeys, end - at));
      for (int64_t r = 0; r < rows; ++r) Finish(r);
      column_ += columns_;
    } while (column_ < queries_.columns);
  }

 private:
  // A sink is a row's first score, whose value is zero.
  void Begin() {
    for (int64_t r = 0; r < rows_; ++r) {
      std::fill_n(space_.sums[r], columns_, 0.0f);
      const float* const sinks = queries_.sinks;
      const double sink = sinks == nullptr ? kNone : sinks[(row_ + r) % queries_.group];
      space_.largest[r] = sink;
      space_.sum[r] = sink == kNone ? 0 : 1 + (sink - sink);  // NaN for infinity
    }
  }

  void Step(int64_t at, int64_t count) {
    const StepFactors factors = keys_(at, count);
    const Block scores{row_, rows_, 0, count};
    Clear(scores, product_.sums);
    Multiply(queries_.q, factors.k, scores, queries_.depth, &product_, Width<kVector>());
    bool all_seen = true;
    for (int64_t r = 0; r < rows_; ++r) {
      const KeyRange all = space_.seen[r];
      const KeyRange seen{std::clamp<int64_t>(all.begin - at, 0, count),
                          std::clamp<int64_t>(all.end - at, 0, count)};
      all_seen &= seen.begin == 0 && seen.end == count;
      Weigh(r, seen, count);
    }
    if (all_seen || IsFinite(factors.v, count)) return AddValues(factors.v, {0, rows_}, count);
    for (int64_t r = 0; r < rows_; ++r) AddSeen(factors.v, r, at, count);
  }

  // Makes weights of a row's products.
  void Weigh(int64_t r, const KeyRange& seen, int64_t count) {
    float *const from = product_.sums[r], *const weights = space_.weights[r];
    if (seen.Empty()) return static_cast<void>(std::fill_n(weights, count, 0.0f));
    const double scale = queries_.scores.template Make<kVector>(count, from);
    const double base = Raise(r, scale * Max<kVector>(seen.end - seen.begin, from + seen.begin));
    for (int64_t j = 0; j < count; ++j) weights[j] = static_cast<float>(scale * from[j] - base);
    std::fill_n(weights, seen.begin, static_cast<float>(kNone));
    std::fill(weights + seen.end, weights + count, static_cast<float>(kNone));
    for (int64_t j = 0; j < count; ++j) weights[j] = Exp<kVector>(weights[j]);
    space_.sum[r] += Sum(count, [weights](int64_t j) { return double{weights[j]}; });
  }

  // Makes room for scores up to `score`. Returns what to subtract from scores: while all are -inf,
  // weights are zero.
  double Raise(int64_t r, double score) {
    const double before = space_.largest[r];
    if (score > before) {
      space_.largest[r] = score;
      if (before != kNone) {
        const float shrink = Exp<kVector>(static_cast<float>(before - score));
        for (int64_t j = 0; j < columns_; ++j) space_.sums[r][j] *= shrink;
        space_.sum[r] *= shrink;
      }
    }
    return space_.largest[r] == kNone ? 0 : space_.largest[r];
  }

  // Adds a step's values, times the weights of rows from i on.
  void AddValues(const Factor& v, const KeyRange& r, int64_t count) {
    const Factor weights{opcast::DType::kF32, space_.weights, kStepKeys};
    const Block block{r.begin, r.end - r.begin, column_, columns_};
    Clear(block, product_.sums);
    Multiply(weights, v, block, count, &product_, Width<kVector>());
    for (int64_t i = 0; i < block.rows; ++i) {
      float* const sums = space_.sums[r.begin + i];
      for (int64_t j = 0; j < columns_; ++j) sums[j] += product_.sums[i][j];
    }
  }

  // Reads the values of a key of a step.
  void ReadValues(const Factor& v, int64_t key, float* to) const {
    char made[LineMaker::kRoom * sizeof(float)];
    for (int64_t j = 0; j < columns_; j += LineMaker::kMostRows) {
      const int64_t n = std::min(LineMaker::kMostRows, columns_ - j), at = column_ + j;
      if (v.maker != nullptr)
        Read(v.type, v.maker->Line(key, at, n, made), 0, n, to + j, Width<kVector>());
      else
        Read(v.type, v.data, v.Offset(key) + at, n, to + j, Width<kVector>());
    }
  }

  // Whether products with weights of zero are zero.
  bool IsFinite(const Factor& v, int64_t count) const {
    float values[kBlockColumns];
    bool finite = true;
    for (int64_t key = 0; key < count; ++key) {
      ReadValues(v, key, values);
      finite &= AllOf<kVector>(columns_, [](float x) { return x - x == 0; }, values);
    }
    return finite;
  }

  // The same as AddValues for one row, which gets to see no value that it must not see.
  void AddSeen(const Factor& v, int64_t r, int64_t at, int64_t count) {
    const FloatSpace copy(count * columns_);
    for (int64_t key = 0; key < count; ++key) {
      float* const to = copy.Floats() + key * columns_;
      if (at + key < space_.seen[r].begin || at + key >= space_.seen[r].end)
        std::fill_n(to, columns_, 0.0f);
      else
        ReadValues(v, key, to);
    }
    const int64_t column = std::exchange(column_, 0);
    AddValues({opcast::DType::kF32, copy.Floats(), columns_, false}, {r, r + 1}, count);
    column_ = column;
  }

  void Finish(int64_t r) {
    const double sum = space_.sum[r];
    const auto factor = static_cast<float>(sum == 0 ? 1 : 1 / sum);
    for (int64_t j = 0; j < columns_; ++j) space_.sums[r][j] *= factor;
    const int64_t place = queries_.Place(row_ + r);
    Write(queries_.type, space_.sums[r], columns_, queries_.o, place * queries_.columns + column_,
          Width<kVector>());
    queries_.lse[place] = Round<float>(sum == 0 ? kNone : space_.largest[r] + std::log(sum));
  }

  const Queries& queries_;
  Keys& keys_;
  AttentionSpace& space_;
  ProductSpace& product_;
  int64_t row_ = 0, rows_ = 0, column_ = 0, columns_ = 0;
};

}  // namespace opcast_ops
