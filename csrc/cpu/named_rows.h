// Rows of a matrix that a list names: -1 is no row.
#pragma once

#include <cstdint>

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

// A vector of a sum over rows: weight(s) times the s-th row, added in order in float, with what
// that loses, since terms may cancel.
template <int kWidth, class T, class Weight, class LoadFrom>
inline Lanes<kWidth> SumOfVectors(const NamedRows<T>& rows, Weight weight, LoadFrom load) {
  Lanes<kWidth> sum = {}, lost = {};
  for (int64_t s = 0; s < rows.count; ++s) {
    if (rows.names[s] < 0) continue;
    const Lanes<kWidth> x = load(rows.matrix + rows.names[s] * rows.columns);
    const float factor = weight(s);
#pragma GCC unroll 1
    for (int l = 0; l < sum.kCount; ++l) {
      const float term = factor * x.numbers[l], before = sum.numbers[l];
      sum.numbers[l] = before + term;
      lost.numbers[l] +=
          Lack(before, term, sum.numbers[l]) + Fma<kWidth>(factor, x.numbers[l], -term);
    }
  }
#pragma GCC unroll 1
  for (int l = 0; l < sum.kCount; ++l) {
    const float both = sum.numbers[l] + lost.numbers[l];
    sum.numbers[l] = Select(both == both, both, sum.numbers[l]);  // infinite, and lost NaN
  }
  return sum;
}

// y = the sum of weight(s) times the s-th row, added in order in float and rounded once.
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
