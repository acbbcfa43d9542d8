// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is one of floats, so its rounding to
// 16 bits does not enter the norm, and the row's scale is as norm_scale.h has it: within 4 units in
// the last place.
//
// Registers: at most 144.
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "cuda/norm/norm_scale.h"
#include "fused_add_rms_norm.gen.h"

namespace opcast_ops {
namespace {

template <class T, class W>
struct FusedAddRmsNormRow {
  using Element = T;
  T* x;
  T* residual;
  const W* weight;
  opcast::BatchOffsets x_rows, residual_rows;
  NormSizes sizes;

  // (a + b) * times, where products with the power of two are exact or nothing beside the largest.
  OPCAST_DEVICE static Floats<T> AddOf(const Vector<T>& a, const Vector<T>& b, float times) {
    Floats<T> left = Widen(a);
    const Floats<T> right = Widen(b);
    OPCAST_UNROLL
    for (int e = 0; e < left.kSize; ++e)
      left.at[e] = kWide<T> ? left.at[e] * times + right.at[e] * times : left.at[e] + right.at[e];
    return left;
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    T* const x_row = x + (there ? x_rows(row) : 0);
    T* const residual_row = residual + (there ? residual_rows(row) : 0);
    const Held<T, Form> held_x(member, x_row, there);
    const Held<T, Form> held_residual(member, residual_row, there);
    const Lifted sum = SumSquares<T>(member, sizes, [&](float lift) {
      Pair squares{};
      member.ForVectors<T, Form>([&](int k, int64_t begin) {
        const Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
        squares = AddSquares(squares, AddOf(a, b, lift));
      });
      return squares;
    });
    if (!there) return;
    const RowScale<T> scale(sum, sizes);
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
      const Floats<T> sums = AddOf(a, b, 1);
      const auto wide = [&](int e) {
        return double{static_cast<float>(a.at[e])} + static_cast<float>(b.at[e]);
      };
      Store<Form::kWhole>(Narrow(scale.Times(sums, weights, wide)), x_row, begin, n);
      Store<Form::kWhole>(Narrow(sums), residual_row, begin, n);
    });
  }
};

}  // namespace

opcast::Status FusedAddRmsNormCuda(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const opcast::BatchOffsets x_rows(a.x_layout), residual_rows(a.residual_layout);
    constexpr int kSize = Vector<T>::kSize;
    const bool aligned = AlignedRows<T>({a.x, a.residual, a.weight}, a.N) &&
                         x_rows.DivisibleBy(kSize) && residual_rows.DivisibleBy(kSize);
    const FusedAddRmsNormRow<T, W> row{a.x,    a.residual,    a.weight,
                                       x_rows, residual_rows, NormSizes(a.eps, a.N)};
    return ForRows<kFewerThreads>(a.batch, a.N, aligned, launch, row);
  });
}

}  // namespace opcast_ops
