// Merging states of attention: what it is over several parts of the keys, with the log-sum-exp of
// each part's scores.
//
// Weights are those of a softmax of the log-sum-exps. All is double, since parts may cancel:
// products are added in order and rounded once. Bits depend neither on the other rows nor on how
// many empty parts there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "exp.h"
#include "lanes.h"

namespace opcast_ops {

// A part that is not empty.
template <class T>
struct Part {
  const T* v;
  float s;
  double weight = 0;
};

// Makes weights of parts, and returns the log-sum-exp of all; NaN if one is NaN.
template <int kVector, class T>
inline double Weigh(Part<T>* parts, int64_t count) {
  constexpr double kEnd = -700;  // below, a weight is zero as a float
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double s = parts[i].s;
    if (!(s <= largest) && largest == largest) largest = s;
  }
  constexpr int64_t kCount = Lanes<kVector>::kCount;
  for (int64_t first = 0; first < count; first += kCount) {
    const int64_t some = std::min(kCount, count - first);
    double powers[kCount] = {};
    for (int64_t l = 0; l < some; ++l) powers[l] = parts[first + l].s;
#pragma GCC unroll 1
    for (int l = 0; l < kCount; ++l) {
      const double less = Select(powers[l] == largest, 0.0, powers[l] - largest);
      powers[l] = Exp<kVector>(Select(less < kEnd, kEnd, less));
    }
    for (int64_t l = 0; l < some; ++l) {
      parts[first + l].weight = powers[l];
      sum += powers[l];
    }
  }
  for (int64_t i = 0; i < count; ++i) parts[i].weight /= sum;
  return largest + std::log(sum);
}

// The n numbers from `at` on of a part, times its weight, or added to sums.
template <int kVector, class T>
inline void AddPart(const Part<T>& part, int64_t at, int64_t n, bool first,
                    Lanes<kVector, double>* sums) {
  const Lanes<kVector> next = LoadSome<kVector>(part.v + at, n);
  const double weight = part.weight;
  if (first) {
#pragma GCC unroll 1
    for (int j = 0; j < next.kCount; ++j) sums->numbers[j] = weight * next.numbers[j];
  } else {
#pragma GCC unroll 1
    for (int j = 0; j < next.kCount; ++j)
      sums->numbers[j] = Fma<kVector>(weight, double{next.numbers[j]}, sums->numbers[j]);
  }
}

// The sum of all parts for n numbers, at most those of one vector.
template <int kVector, class T>
inline Lanes<kVector> AddParts(const Part<T>* parts, int64_t count, int64_t at, int64_t n) {
  Lanes<kVector, double> sums;
  AddPart<kVector>(parts[0], at, n, true, &sums);
  for (int64_t i = 1; i < count; ++i) AddPart<kVector>(parts[i], at, n, false, &sums);
  Lanes<kVector> narrow;
#pragma GCC unroll 1
  for (int j = 0; j < narrow.kCount; ++j) narrow.numbers[j] = static_cast<float>(sums.numbers[j]);
  return narrow;
}

// Writes the sum of all parts for a row of n numbers.
template <int kVector, class T>
inline void WriteSums(const Part<T>* parts, int64_t count, int64_t n, T* v) {
  constexpr int64_t kCount = Lanes<kVector>::kCount;
  int64_t i = 0;
  for (; i + kCount <= n; i += kCount) AddParts<kVector>(parts, count, i, kCount).Store(v + i);
  if (i < n) AddParts<kVector>(parts, count, i, n - i).StoreSome(v + i, n - i);
}

// Writes what a row of n numbers is over all of `count` parts, and its log-sum-exp.
template <int kVector, class T>
inline void MergeRow(Part<T>* parts, int64_t count, int64_t n, T* v, float* s) {
  if (count == 0) {
    std::fill_n(v, n, T(0.0f));
    *s = -std::numeric_limits<float>::infinity();
    return;
  }
  if (count == 1 && !std::isnan(parts->s)) {
    if (n > 0) std::memcpy(v, parts->v, static_cast<size_t>(n) * sizeof(T));
    *s = parts->s;
    return;
  }
  *s = Round<float>(Weigh<kVector>(parts, count));
  WriteSums<kVector>(parts, count, n, v);
}

// The parts of a row that are not empty, up to a number of parts.
template <class T>
class Parts {
 public:
  explicit Parts(int64_t most) : parts_(new Part<T>[most]) {}

  void Clear() { count_ = 0; }
  void Add(const T* v, float s) {
    if (s != -std::numeric_limits<float>::infinity()) parts_[count_++] = {v, s};
  }
  template <int kVector>
  void Merge(int64_t n, T* v, float* s) {
    MergeRow<kVector>(parts_.get(), count_, n, v, s);
  }

 private:
  const std::unique_ptr<Part<T>[]> parts_;
  int64_t count_ = 0;
};

}  // namespace opcast_ops
