// Rows of a matrix that a list names, for kernels over rows. What is no row, such as -1, adds
// nothing.
#pragma once

#include <cstdint>

#include "cuda/lib/row_kernels.h"

namespace opcast_ops {

// y[i] = the sum of weight(i, s) times the row that names[i, s] names, added in order as pairs of
// floats, since terms may cancel, and rounded once.
template <class T, class Y, class Weight>
struct SumOfRows {
  using Element = T;
  Y* y;
  const T* matrix;
  int64_t rows;  // of the matrix
  const int32_t* names;
  int64_t slots;
  Weight weight;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    if (!there) return;
    const int64_t n = member.n();
    member.ForVectors<T, Form>([&](int, int64_t begin) {
      Pair sums[Floats<T>::kSize] = {};
      for (int64_t s = 0; s < slots; ++s) {
        const int64_t name = names[row * slots + s];
        if (name < 0 || name >= rows) continue;
        const Floats<T> x = Widen(Load<Form::kWhole>(matrix + name * n, begin, n));
        const float factor = weight(row * slots + s);
        OPCAST_UNROLL
        for (int e = 0; e < x.kSize; ++e) sums[e] = sums[e] + Multiply(factor, x.at[e]);
      }
      Floats<T> sum;
      OPCAST_UNROLL
      for (int e = 0; e < sum.kSize; ++e) sum.at[e] = Settle(sums[e]).high;
      Put<Form>(sum, y + row * n, begin, n);
    });
  }

 private:
  template <class Form>
  OPCAST_DEVICE static void Put(const Floats<T>& sum, Y* to, int64_t begin, int64_t n) {
    if constexpr (sizeof(T) == sizeof(Y)) {
      Store<Form::kWhole>(Narrow(sum), to, begin, n);
    } else {
      OPCAST_UNROLL
      for (int e = 0; e < sum.kSize; ++e) {
        if (begin + e < n) to[begin + e] = static_cast<Y>(sum.at[e]);
      }
    }
  }
};

struct NoWeight {
  OPCAST_DEVICE float operator()(int64_t) const { return 1; }
};
struct WeightOfItem {
  const float* weights;
  OPCAST_DEVICE float operator()(int64_t item) const { return weights[item]; }
};

// Starts it for `rows` results of n elements.
template <class T, class Y, class Weight>
opcast::Status SumRows(int64_t rows, int64_t n, const opcast::Launch& launch,
                       const SumOfRows<T, Y, Weight>& work) {
  const bool aligned = AlignedRows<T>({work.matrix, work.y}, n);
  return ForRows(rows, n, aligned, launch, work);
}

}  // namespace opcast_ops
