// Scores of experts in double, and the best of them (larger ones first, NaN last, and of equal ones
// that with the lower place first), without branches that depend on what the numbers are.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/lib/exp.h"
#include "cpu/lib/row_reductions.h"

namespace opcast_ops {

// What arrays of scores and keys have room for behind the last one.
constexpr int64_t kScoreRoom = 16;

// An integer that is larger the further ahead a number is ranked: NaN are all the same, and so are
// 0 and -0.
constexpr int64_t kTaken = INT64_MIN, kNanKey = kTaken + 1;
inline int64_t KeyOf(double x) {
  const double plain = x + 0.0;
  int64_t bits;
  std::memcpy(&bits, &plain, sizeof bits);
  const int64_t key = bits ^ (bits >> 63 & INT64_MAX), is_nan = -int64_t{x != x};
  return (key & ~is_nan) | (kNanKey & is_nan);
}
inline double OfKey(int64_t key) {
  if (key <= kNanKey) return std::numeric_limits<double>::quiet_NaN();
  key ^= key >> 63 & INT64_MAX;
  double x;
  std::memcpy(&x, &key, sizeof x);
  return x;
}

// y[i] = f(x[i]) for n numbers, and something behind them.
template <int kWidth, class F, class X, class Y>
inline void MapScores(int64_t n, F f, const X* x, Y* y) {
  constexpr int kCount = Lanes<kWidth>::kCount;
  static_assert(kCount <= kScoreRoom);
  for (int64_t i = 0; i < n; i += kCount) {
    const auto from = LoadSome<kWidth>(x + i, std::min<int64_t>(kCount, n - i));
    Y to[kCount];
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) to[l] = f(from.numbers[l]);
    std::memcpy(y + i, to, sizeof to);
  }
}

// keys[i] = that of scores[i], and kTaken behind the last one.
template <int kWidth>
inline void MakeKeys(int64_t n, const double* scores, int64_t* keys) {
  MapScores<kWidth>(n, KeyOf, scores, keys);
  std::fill_n(keys + n, kScoreRoom, kTaken);
}

// The place of the largest of n keys, the first one of several; it is taken.
template <int kWidth>
inline int64_t TakeFirst(int64_t n, int64_t* keys) {
  typedef int64_t Vector __attribute__((vector_size(kWidth)));
  constexpr int kCount = kWidth / static_cast<int>(sizeof(int64_t));
  int64_t lane_keys[kCount], lane_places[kCount];
  for (int l = 0; l < kCount; ++l) lane_places[l] = l;
  Vector best, at, places, key;
  std::memcpy(&best, keys, sizeof best);
  std::memcpy(&at, lane_places, sizeof at);
  places = at;
  for (int64_t i = kCount; i < n; i += kCount) {
    std::memcpy(&key, keys + i, sizeof key);
    at += kCount;
    const Vector ahead = key > best;
    best = (key & ahead) | (best & ~ahead);
    places = (at & ahead) | (places & ~ahead);
  }
  std::memcpy(lane_keys, &best, sizeof best);
  std::memcpy(lane_places, &places, sizeof places);
  int64_t first = lane_keys[0], place = lane_places[0];
  for (int l = 1; l < kCount; ++l) {
    const bool ahead =
        (lane_keys[l] > first) | ((lane_keys[l] == first) & (lane_places[l] < place));
    first = ahead ? lane_keys[l] : first;
    place = ahead ? lane_places[l] : place;
  }
  keys[place] = kTaken;
  return place;
}

// e^(x - max) for x <= max; NaN if max is infinite, and where a number is NaN.
template <int kWidth>
inline double Weight(double x, double max) {
  constexpr double kEnd = -700;
  const double d = x - max;
  return Exp<kWidth>(Select(d < kEnd, kEnd, d));
}

// weights[i] = e^(x[i] - max); returns their sum.
template <int kWidth>
inline double MakeWeights(int64_t n, const float* x, double max, double* weights) {
  MapScores<kWidth>(n, [=](float one) { return Weight<kWidth>(one, max); }, x, weights);
  return Sum(n, [=](int64_t i) { return weights[i]; });
}

// Space of a thread for a row of n logits: floats, scores and keys of them, and more keys.
class ScoreSpace {
 public:
  explicit ScoreSpace(int64_t n, int64_t more = 0)
      : all_(new double[static_cast<size_t>(3 * n + more + 4 * kScoreRoom)]) {
    scores = all_.get();
    keys = reinterpret_cast<int64_t*>(scores + n + kScoreRoom);
    more_keys = keys + n + kScoreRoom;
    row = reinterpret_cast<float*>(more_keys + more + kScoreRoom);
  }

 private:
  const std::unique_ptr<double[]> all_;

 public:
  double* scores;
  int64_t *keys, *more_keys;
  float* row;
};

}  // namespace opcast_ops
