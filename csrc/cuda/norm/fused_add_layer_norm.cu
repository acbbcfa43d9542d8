// With h = x + residual: x[i, j] becomes (h[i, j] - mean) / sqrt(variance + eps) * weight[j] +
// bias[j] with the mean and the population variance of h[i], and residual becomes h; rows with
// contiguous elements. Computed in double from the differences to the row's first sum, and rounded
// once.
//
// Registers: at most 128.
// sass: allows call in RowsKernel: indices beyond 32 bits
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "fused_add_layer_norm.gen.h"

namespace opcast_ops {
namespace {

template <class T, class W>
struct FusedAddLayerNormRow {
  using Element = T;
  T* x;
  T* residual;
  const W* weight;
  const W* bias;  // or null
  opcast::BatchOffsets x_rows, residual_rows;
  double eps;

  OPCAST_DEVICE static double AddOf(T a, T b) {
    return double{static_cast<float>(a)} + double{static_cast<float>(b)};
  }

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    T* const x_row = x + (there ? x_rows(row) : 0);
    T* const residual_row = residual + (there ? residual_rows(row) : 0);
    const Held<T, Form> held_x(member, x_row, there);
    const Held<T, Form> held_residual(member, residual_row, there);
    const double first = there && n > 0 ? AddOf(x_row[0], residual_row[0]) : 0;
    const double base = fabs(first) <= 2.0 * kLargest ? first : 0;
    double sums[2] = {0, 0};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < a.kSize; ++e) {
        if (!member.Has<Form>(begin, e)) continue;
        const double distance = AddOf(a.at[e], b.at[e]) - base;
        sums[0] += distance;
        sums[1] += distance * distance;
      }
    });
    member.Sum(sums);
    if (!there) return;
    const double shift = sums[0] / static_cast<double>(n);
    const double variance = sums[1] / static_cast<double>(n) - shift * shift;
    const double mean = base + shift, scale = 1 / sqrt((variance < 0 ? 0 : variance) + eps);
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Floats<T> shifts = LoadFloats<T, Form::kWhole>(bias, begin, n);
      Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < a.kSize; ++e) {
        const double sum = AddOf(a.at[e], b.at[e]);
        a.at[e] = Round<T>((sum - mean) * scale * weights.at[e] + shifts.at[e]);
        b.at[e] = Round<T>(sum);
      }
      Store<Form::kWhole>(a, x_row, begin, n);
      Store<Form::kWhole>(b, residual_row, begin, n);
    });
  }
};

}  // namespace

opcast::Status FusedAddLayerNormCuda(const FusedAddLayerNormArgs& args,
                                     const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const opcast::BatchOffsets x_rows(a.x_layout), residual_rows(a.residual_layout);
    constexpr int kSize = Vector<T>::kSize;
    const bool aligned = AlignedRows<T>({a.x, a.residual, a.weight, a.bias}, a.N) &&
                         x_rows.DivisibleBy(kSize) && residual_rows.DivisibleBy(kSize);
    const FusedAddLayerNormRow<T, W> row{a.x,    a.residual,    a.weight, a.bias,
                                         x_rows, residual_rows, a.eps};
    return ForRows<kFewerThreads>(a.batch, a.N, aligned, launch, row);
  });
}

}  // namespace opcast_ops
