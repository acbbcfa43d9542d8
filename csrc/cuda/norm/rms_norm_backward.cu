// grad_x[i, j] = r * (g[i, j] - x[i, j] * r^2 * mean(g[i] * x[i])) with g = grad_y * weight and
// r = 1 / sqrt(mean(x[i]^2) + eps); grad_weight[j] is the sum of grad_y[i, j] * x[i, j] * r over
// all rows. Dense rows. Rows are computed in double and rounded once; see column_sums.h for the
// sums.
//
// Registers: at most 208.
// sass: allows call, fp64 in ColumnsKernel: precision, as the head of this file says
// sass: allows narrow in ColumnsKernel: arrays whose rows are not aligned
// sass: allows fp64 in TotalsKernel: precision, as the head of this file says
#include "cuda/norm/column_sums.h"
#include "rms_norm_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T, class W>
struct RmsNormBackwardRow {
  using Element = T;
  static constexpr int kSums = 1;
  T* grad_x;
  const T* grad_y;
  const T* x;
  const W* weight;
  double eps;

  template <class Form, class Sums>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there, Sums& columns) const {
    const int64_t n = member.n();
    const Held<T, Form> held_grad(member, grad_y + row * n, there);
    const Held<T, Form> held_x(member, x + row * n, there);
    double sums[2] = {0, 0};
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Vector<T> grads = held_grad.At(k, begin), values = held_x.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const double v = static_cast<float>(values.at[e]);
        const double g = double{static_cast<float>(grads.at[e])} * weights.at[e];
        sums[0] += v * v;
        sums[1] += g * v;
      }
    });
    member.Sum(sums);
    const double count = static_cast<double>(n);
    const double scale = 1 / sqrt(sums[0] / count + eps);
    const double share = scale * scale * (sums[1] / count);
    if (!there) return;
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Vector<T> grads = held_grad.At(k, begin);
      Vector<T> values = held_x.At(k, begin);
      OPCAST_UNROLL
      for (int e = 0; e < values.kSize; ++e) {
        const double v = static_cast<float>(values.at[e]), g = static_cast<float>(grads.at[e]);
        values.at[e] = Round<T>(scale * (g * weights.at[e] - v * share));
        columns.Add(0, k, begin, e, g * v * scale);
      }
      Store<Form::kWhole>(values, grad_x + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status RmsNormBackwardCuda(const RmsNormBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const RmsNormBackwardRow<T, W> row{a.grad_x, a.grad_y, a.x, a.weight, a.eps};
    const bool aligned = AlignedRows<T>({a.grad_x, a.grad_y, a.x, a.weight}, a.N);
    return ForRowsAndColumns(a.batch, a.N, aligned, launch, row, a.partials,
                             ColumnTotals<W, 1>{{a.grad_weight}});
  });
}

}  // namespace opcast_ops
