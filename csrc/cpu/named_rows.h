// Rows of a matrix that a list names: -1 is no row.
#pragma once

#include <cstdint>

#include "row_sums.h"
#include "rows.h"
#include "stream.h"

namespace opcast_ops {

template <class T>
struct NamedRows {
  const T* matrix;
  int64_t columns;
  const int32_t* names;
  int64_t count;

  NamedRows<T> Of(int64_t i) const { return {matrix, columns, names + i * count, count}; }
};

// Vectors of a sum over rows: weight(s) times the s-th row, added in order in double, since terms
// may cancel. load(row, v) gives vector v of a row.
template <int kWidth, int kVectors, class T, class Weight, class LoadFrom>
inline void SumVectors(const NamedRows<T>& rows, Weight weight, LoadFrom load,
                       WideLanes<kWidth>* sums) {
  for (int64_t s = 0; s < rows.count; ++s) {
    if (rows.names[s] < 0) continue;
    const T* const row = rows.matrix + rows.names[s] * rows.columns;
    Doubles<kWidth> factor;
    factor.all = typename Doubles<kWidth>::Vector{} + double{weight(s)};
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const WideLanes<kWidth> x(load(row, v));
      MultiplyAdd(x.halves[0], factor, &sums[v].halves[0]);
      MultiplyAdd(x.halves[1], factor, &sums[v].halves[1]);
    }
  }
}

// What else SumRows does: it prefetches the rows of the next `ahead` names, since the CPU cannot
// guess them, and stores the sum past the cache, if wanted. EndStream must follow then.
struct Passing {
  int64_t ahead = 0;
  bool past = false;
};

// y = the sum of weight(s) times the s-th row, added in order and rounded once.
template <int kWidth, class T, class Y, class Weight>
inline void SumRows(const NamedRows<T>& rows, Weight weight, Passing passing, Y* y) {
  constexpr int kVectors = kWidth == 64 ? 8 : 4;  // as registers have room for
  constexpr int64_t kCount = Lanes<kWidth>::kCount, kBytes = kVectors * kCount * sizeof(T);
  const bool past = passing.past && BeforeStream<kWidth>(y) == 0;
  int64_t j = 0;
  for (; j + kVectors * kCount <= rows.columns; j += kVectors * kCount) {
    for (int64_t s = rows.count; s < rows.count + passing.ahead; ++s) {
      if (rows.names[s] < 0) continue;
      const T* const next = rows.matrix + rows.names[s] * rows.columns + j;
      for (int64_t i = 0; i < kBytes; i += 64) FetchToRead(reinterpret_cast<const char*>(next) + i);
    }
    WideLanes<kWidth> sums[kVectors];
    const auto load = [j](const T* row, int v) { return Load<kWidth>(row + j + v * kCount); };
    SumVectors<kWidth, kVectors>(rows, weight, load, sums);
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      if (past)
        Stream(sums[v].Narrow(), y + j + v * kCount, AnyNan());
      else
        sums[v].Narrow().Store(y + j + v * kCount);
    }
  }
  for (; j < rows.columns; j += kCount) {
    const int64_t count = std::min(kCount, rows.columns - j);
    WideLanes<kWidth> sum;
    const auto load = [j, count](const T* row, int) { return LoadSome<kWidth>(row + j, count); };
    SumVectors<kWidth, 1>(rows, weight, load, &sum);
    sum.Narrow().StoreSome(y + j, count);
  }
}

// Calls SumRows for each of n tokens. The names of a token follow those of the one before it;
// weight_of(i) gives the weights of token i.
template <class T, class WeightOf>
inline opcast::Status SumTokens(const opcast::Launch& launch, const NamedRows<T>& rows, int64_t n,
                                WeightOf weight_of, T* y) {
  const int64_t columns = rows.columns;
  const bool past = PastCache(launch, y, n * columns, 1 + static_cast<int>(rows.count));
  const auto tokens = [&](int64_t begin, int64_t end, auto width) {
    for (int64_t i = begin; i < end; ++i) {
      const Passing passing{i + 1 < n ? rows.count : 0, past};
      SumRows<width>(rows.Of(i), weight_of(i), passing, y + i * columns);
    }
    if (past) EndStream();
  };
  opcast::ParallelFor(launch, n, RowsPerChunk(columns * rows.count), tokens);
  return opcast::Status::Ok();
}

}  // namespace opcast_ops
