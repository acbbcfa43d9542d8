// Merging states of attention: what it is over several parts of the keys, with the log-sum-exp of
// each part's scores.
//
// Weights are those of a softmax of the log-sum-exps. All here is double, since parts may cancel:
// products are added in order and rounded once. Bits depend neither on the other rows nor on how
// many empty parts there are.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "cpu/lib/exp.h"
#include "cpu/lib/row_sums.h"

namespace opcast_ops {

// What is the log-sum-exp of no scores; some libraries give inf.
inline bool OfNone(float s) { return std::isinf(s); }

// A part that is not empty.
template <class T>
struct Part {
  const T* v;
  float s;
  double weight = 0;
};

// The sum of all parts for kVectors vectors of a row, of which load(row, v) gives vector v.
template <int kVector, int kVectors, class T, class LoadFrom>
inline void SumParts(const Part<T>* parts, int64_t count, LoadFrom load, Lanes<kVector>* results) {
  using Half = Doubles<kVector>;
  WideLanes<kVector> sums[kVectors];
#pragma GCC unroll 4
  for (int k = 0; k < kVectors; ++k) {
    sums[k] = WideLanes<kVector>(load(parts[0].v, k));
    for (Half& half : sums[k].halves) half.all *= parts[0].weight;
  }
  for (int64_t i = 1; i < count; ++i) {
    Half weight;
    weight.all = typename Half::Vector{} + parts[i].weight;
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) {
      const WideLanes<kVector> next(load(parts[i].v, k));
      MultiplyAdd(weight, next.halves[0], &sums[k].halves[0]);
      MultiplyAdd(weight, next.halves[1], &sums[k].halves[1]);
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < kVectors; ++k) results[k] = sums[k].Narrow();
}

// Stores the first n numbers of a vector, past the cache if wanted: see streaming_stores.h. `to`
// must be a place that Stream can begin at then.
template <int kVector, class T>
inline void StoreSums(const Lanes<kVector>& sums, bool past, T* to, int64_t n) {
  if (past && n == Lanes<kVector>::kCount)
    Stream(sums, to, AnyNan());
  else
    sums.StoreSome(to, n);
}

// Writes the sum of all parts for a row of n numbers.
template <int kVector, class T>
inline void WriteSums(const Part<T>* parts, int64_t count, int64_t n, bool past, T* v) {
  constexpr int kVectors = 4;
  constexpr int64_t kCount = Lanes<kVector>::kCount;
  Lanes<kVector> sums[kVectors];
  int64_t i = 0;
  for (; i + kVectors * kCount <= n; i += kVectors * kCount) {
    const auto load = [i](const T* row, int k) { return Load<kVector>(row + i + k * kCount); };
    SumParts<kVector, kVectors>(parts, count, load, sums);
#pragma GCC unroll 4
    for (int k = 0; k < kVectors; ++k) StoreSums(sums[k], past, v + i + k * kCount, kCount);
  }
  for (; i < n; i += kCount) {
    const int64_t some = std::min(kCount, n - i);
    const auto load = [i, some](const T* row, int) { return LoadSome<kVector>(row + i, some); };
    SumParts<kVector, 1>(parts, count, load, sums);
    StoreSums(sums[0], past, v + i, some);
  }
}

// Writes what a row of n numbers is over all of `count` parts, which have their weights, and its
// log-sum-exp, which is that of the scores unless fewer than two parts are there.
template <int kVector, class T>
inline void MergeRow(const Part<T>* parts, int64_t count, int64_t n, double lse, T* v, float* s) {
  if (count == 0) {
    std::fill_n(v, n, T(0.0f));
    *s = -std::numeric_limits<float>::infinity();
  } else if (count == 1 && !std::isnan(parts->s)) {
    if (n > 0) std::memcpy(v, parts->v, static_cast<size_t>(n) * sizeof(T));
    *s = parts->s;
  } else {
    *s = Round<float>(lse);
    WriteSums<kVector>(parts, count, n, false, v);
  }
}

}  // namespace opcast_ops
