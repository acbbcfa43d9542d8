// What the kernels over rows share: chunk sizes, and reductions with a fixed order.
//
// The order depends on n and, except for Reduce, on the width of the vectors.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cpu/lib/float_conversion.h"
#include "cpu/lib/float_vectors.h"
#include "cpu/lib/map_elements.h"

namespace opcast_ops {

// Elements that one thread takes at a time: some 10 microseconds of work.
constexpr int64_t kChunk = 1 << 15;

// Rows of n elements that make up a chunk.
inline int64_t RowsPerChunk(int64_t n) {
  return std::max<int64_t>(1, kChunk / std::max<int64_t>(1, n));
}

// Combines kLanes values pairwise, lane l with lane l + kLanes / 2, into the first.
template <int kLanes, class V, class Op>
inline V Tree(V* lanes, Op op) {
  if constexpr (kLanes > 1) {
    for (int l = 0; l < kLanes / 2; ++l) lanes[l] = op(lanes[l], lanes[l + kLanes / 2]);
    return Tree<kLanes / 2>(lanes, op);
  }
  return lanes[0];
}

// Combines term(0) ... term(n - 1), starting from `neutral`. Term i goes to lane i % 16.
template <class V, class Term, class Op>
inline V Reduce(int64_t n, V neutral, Term term, Op op) {
  constexpr int kLanes = 16;
  V lanes[kLanes];
  for (int l = 0; l < kLanes; ++l) lanes[l] = neutral;
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) lanes[l] = op(lanes[l], term(i + l));
  }
  for (int l = 0; i + l < n; ++l) lanes[l] = op(lanes[l], term(i + l));
  return Tree<kLanes>(lanes, op);
}

// term(0) + ... + term(n - 1) in double.
template <class Term>
inline double Sum(int64_t n, Term term) {
  return Reduce(n, 0.0, term, [](double a, double b) { return a + b; });
}

// Calls step(rows) for all n numbers of kInputs rows, as floats: kStep at a time, and then for the
// rest, which is filled up with `pad`.
template <int kWidth, int64_t kStep, int kInputs, class T, class Step>
inline void ForSteps(int64_t n, const T* const (&x)[kInputs], float pad, Step step) {
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    alignas(64) float spaces[kInputs][kStep];
    const float* rows[kInputs];
    for (int k = 0; k < kInputs; ++k) {
      if constexpr (std::is_same_v<T, float>) {
        rows[k] = x[k] + i;
      } else {
        Widen<kWidth>(x[k] + i, spaces[k], kStep);
        rows[k] = spaces[k];
      }
    }
    step(rows);
  }
  if (i == n) return;
  alignas(64) float spaces[kInputs][kStep];
  const float* rows[kInputs];
  for (int k = 0; k < kInputs; ++k) {
    T rest[kStep];
    std::fill(rest, rest + kStep, static_cast<T>(pad));
    std::memcpy(rest, x[k] + i, static_cast<size_t>(n - i) * sizeof(T));
    Widen<kWidth>(rest, spaces[k], kStep);
    rows[k] = spaces[k];
  }
  step(rows);
}

// The sum of all numbers of four vectors.
template <int kWidth>
inline double Total(const Doubles<kWidth>& a, const Doubles<kWidth>& b, const Doubles<kWidth>& c,
                    const Doubles<kWidth>& d) {
  constexpr int kCount = Doubles<kWidth>::kCount;
  const auto all = (a.all + c.all) + (b.all + d.all);
  double parts[kCount];
  std::memcpy(parts, &all, sizeof parts);
  return Tree<kCount>(parts, [](double x, double y) { return x + y; });
}

// sums[s] = what add(vectors of x, sums) adds to its sum s for all numbers of the rows x, in
// double; it adds nothing for `pad` in place of x. Number i goes to lane i % kStep.
template <int kWidth, int kSums, int kInputs, class T, class Add>
inline void DoubleSums(int64_t n, const T* const (&x)[kInputs], Add add, double (&sums)[kSums],
                       float pad = 0) {
  using V = Doubles<kWidth>;
  constexpr int kVectors = 4;
  V lanes[kVectors][kSums] = {};
  ForSteps<kWidth, kVectors * V::kCount>(n, x, pad, [&](const float* const* rows) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      V loaded[kInputs];
#pragma GCC unroll 3
      for (int k = 0; k < kInputs; ++k) loaded[k].Load(rows[k] + v * V::kCount);
      add(loaded, lanes[v]);
    }
  });
#pragma GCC unroll 2
  for (int s = 0; s < kSums; ++s)
    sums[s] = Total(lanes[0][s], lanes[1][s], lanes[2][s], lanes[3][s]);
}

// The same for one sum.
template <int kWidth, int kInputs, class T, class Add>
inline double DoubleSum(int64_t n, const T* const (&x)[kInputs], Add add) {
  double sums[1];
  DoubleSums<kWidth>(n, x, add, sums);
  return sums[0];
}

// What a sum of squares adds for the numbers of one row.
constexpr auto kAddSquare = [](const auto* x, auto* sum) { MultiplyAdd(x[0], x[0], sum); };

// Adds the floats of a vector to those of two vectors of doubles.
template <int kWidth>
inline void AddFloats(const Floats<kWidth>& x, Doubles<kWidth>* sums) {
  float floats[Floats<kWidth>::kCount];
  x.Store(floats);
  for (int half = 0; half < 2; ++half) {
    Doubles<kWidth> wide;
    wide.Load(floats + half * wide.kCount);
    sums[half].all += wide.all;
  }
}

// Adds the sum of four vectors to two vectors of doubles.
template <int kWidth>
inline void AddFour(const Floats<kWidth> (&x)[4], Doubles<kWidth>* sums) {
  Floats<kWidth> four;
  four.all = (x[0].all + x[1].all) + (x[2].all + x[3].all);
  AddFloats(four, sums);
}

// Whether a sum of n squares of floats is what it should be: none of weight was denormal or
// infinite.
inline bool IsOrdinary(double squares, int64_t n) {
  return squares > 0x1p-100 * static_cast<double>(n) && squares < 0x1p120;
}

// The sum of squares of n numbers, with a relative error below 2^-22: sums of four are floats, and
// are added in double.
template <int kWidth, class T>
inline double SumOfSquares(int64_t n, const T* x) {
  using V = Floats<kWidth>;
  constexpr int kTerms = 4, kGroups = 2;
  Doubles<kWidth> lanes[2 * kGroups] = {};
  const T* const alone[] = {x};
  ForSteps<kWidth, kGroups * kTerms * V::kCount>(n, alone, 0, [&](const float* const* rows) {
#pragma GCC unroll 2
    for (int group = 0; group < kGroups; ++group) {
      V squares[kTerms];
#pragma GCC unroll 4
      for (int v = 0; v < kTerms; ++v) {
        squares[v].Load(rows[0] + (group * kTerms + v) * V::kCount);
        squares[v].all *= squares[v].all;
      }
      AddFour(squares, lanes + 2 * group);
    }
  });
  const double sum = Total(lanes[0], lanes[1], lanes[2], lanes[3]);
  return IsOrdinary(sum, n) ? sum : DoubleSum<kWidth>(n, alone, kAddSquare);
}

// Calls store(i, lanes, count) with the numbers f(x[i]...), ... f(x[i + count - 1]...) of each
// vector, and returns the sum of term(f(x[i]...)) over all n, as in SumOfSquares.
template <int kWidth, class F, class Term, class Store, class... Xs>
inline double MapAndSum(int64_t n, F f, Term term, Store store, const Xs*... x) {
  using V = Floats<kWidth>;
  constexpr int kTerms = 4, kCount = V::kCount;
  Doubles<kWidth> lanes[2] = {};
  int64_t i = 0;
  for (; i + kTerms * kCount <= n; i += kTerms * kCount) {
    V terms[kTerms];
#pragma GCC unroll 4
    for (int v = 0; v < kTerms; ++v) {
      Lanes<kWidth> made;
      MapLanes(f, &made, Load<kWidth>(x + i + v * kCount)...);
      store(i + v * kCount, made, kCount);
      terms[v].Load(made.numbers);
      term(&terms[v]);
    }
    AddFour(terms, lanes);
  }
  for (; i < n; i += kCount) {
    const int64_t count = std::min<int64_t>(kCount, n - i);
    Lanes<kWidth> made;
    MapLanes(f, &made, LoadSome<kWidth>(x + i, count)...);
    store(i, made, count);
    std::fill(made.numbers + count, made.numbers + kCount, 0.0f);
    V rest;
    rest.Load(made.numbers);
    term(&rest);
    AddFloats(rest, lanes);
  }
  const Doubles<kWidth> none = {};
  return Total(lanes[0], lanes[1], none, none);
}

// The largest of n numbers, -inf if there is none; NaN do not count.
template <int kWidth, class T>
inline float Max(int64_t n, const T* x) {
  using V = Floats<kWidth>;
  constexpr int kVectors = 4;
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  V best[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) best[v].all = typename V::Vector{} + kLowest;
  const T* const alone[] = {x};
  ForSteps<kWidth, kVectors * V::kCount>(n, alone, kLowest, [&](const float* const* rows) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      V loaded;
      loaded.Load(rows[0] + v * V::kCount);
      Larger(loaded, &best[v]);
    }
  });
  Larger(best[2], &best[0]);
  Larger(best[3], &best[1]);
  Larger(best[1], &best[0]);
  float parts[V::kCount];
  best[0].Store(parts);
  return Tree<V::kCount>(parts, [](float a, float b) { return b > a ? b : a; });
}

}  // namespace opcast_ops
