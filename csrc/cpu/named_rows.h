// Rows of a matrix that a list names: -1 is no row.
#pragma once

#include <cstdint>

#include "row_sums.h"
#include "rows.h"

namespace opcast_ops {

template <class T>
struct NamedRows {
  const T* matrix;
  int64_t columns;
  const int32_t* names;
  int64_t count;

  NamedRows<T> Of(int64_t i) const { return {matrix, columns, names + i * count, count}; }
};

// A vector of a sum over rows: weight(s) times the s-th row, added in order in double, since terms
// may cancel.
template <int kWidth, class T, class Weight, class LoadFrom>
inline Lanes<kWidth> SumOfVectors(const NamedRows<T>& rows, Weight weight, LoadFrom load) {
  WideLanes<kWidth> sum;
  for (int64_t s = 0; s < rows.count; ++s) {
    if (rows.names[s] < 0) continue;
    const WideLanes<kWidth> x(load(rows.matrix + rows.names[s] * rows.columns));
    Doubles<kWidth> factor;
    factor.all = typename Doubles<kWidth>::Vector{} + double{weight(s)};
    for (int half = 0; half < 2; ++half) MultiplyAdd(x.halves[half], factor, &sum.halves[half]);
  }
  return sum.Narrow();
}

// y = the sum of weight(s) times the s-th row, added in order and rounded once.
template <int kWidth, class T, class Y, class Weight>
inline void SumRows(const NamedRows<T>& rows, Weight weight, Y* y) {
  constexpr int64_t kCount = Lanes<kWidth>::kCount;
  int64_t j = 0;
  for (; j + kCount <= rows.columns; j += kCount)
    SumOfVectors<kWidth>(rows, weight, [j](const T* row) {
      return Load<kWidth>(row + j);
    }).Store(y + j);
  const int64_t rest = rows.columns - j;
  if (rest == 0) return;
  SumOfVectors<kWidth>(rows, weight, [=](const T* row) {
    return LoadSome<kWidth>(row + j, rest);
  }).StoreSome(y + j, rest);
}

}  // namespace opcast_ops
