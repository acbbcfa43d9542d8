// With h = x + residual: x[i, j] becomes h[i, j] / sqrt(mean(h[i]^2) + eps) * weight[j] and
// residual becomes h; rows with contiguous elements. The sum is computed in double, so its rounding
// to the dtype does not enter the norm, and each result is rounded once.
#include "fused_add_rms_norm.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

template <class T>
struct FusedAddRmsNormRow {
  using Element = T;
  T* x;
  T* residual;
  const T* weight;
  opcast::BatchOffsets x_rows, residual_rows;
  double eps;
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    T* const x_row = x + (size > 0 ? x_rows(row) : 0);
    T* const residual_row = residual + (size > 0 ? residual_rows(row) : 0);
    const Held<T, kVectors> held_x(member, x_row, size, aligned);
    const Held<T, kVectors> held_residual(member, residual_row, size, aligned);
    double squares = 0;
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
      for (int e = 0; e < a.kSize; ++e) {
        const double h = double{static_cast<float>(a.at[e])} + static_cast<float>(b.at[e]);
        squares += h * h;
      }
    });
    const double scale = 1 / sqrt(member.Sum(squares) / static_cast<double>(n) + eps);
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> weights = Load(weight, begin, n, aligned);
      Vector<T> a = held_x.At(k, begin), b = held_residual.At(k, begin);
      for (int e = 0; e < a.kSize; ++e) {
        const double h = double{static_cast<float>(a.at[e])} + static_cast<float>(b.at[e]);
        a.at[e] = Round<T>(h * scale * static_cast<float>(weights.at[e]));
        b.at[e] = Round<T>(h);
      }
      Store(a, x_row, begin, size, aligned);
      Store(b, residual_row, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status FusedAddRmsNormCuda(const FusedAddRmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const opcast::BatchOffsets x_rows(a.x_layout), residual_rows(a.residual_layout);
    constexpr int kSize = Vector<T>::kSize;
    const FusedAddRmsNormRow<T> row{a.x,
                                    a.residual,
                                    a.weight,
                                    x_rows,
                                    residual_rows,
                                    a.eps,
                                    Aligned({a.x, a.residual, a.weight}) &&
                                        x_rows.DivisibleBy(kSize) &&
                                        residual_rows.DivisibleBy(kSize)};
    return ForRows(a.batch, a.N, launch, row);
  });
}

}  // namespace opcast_ops
