// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in float but for
// the row's scale (see norm_scale.h), within 3 units in the last place.
//
// Registers: at most 96.
// sass: allows fp64 in RowsKernel: precision, as the head of this file says
// sass: allows narrow in RowsKernel: arrays whose rows are not aligned
#include "cuda/lib/row_kernels.h"
#include "cuda/norm/norm_scale.h"
#include "rms_norm.gen.h"

namespace opcast_ops {
namespace {

template <class T, class W>
struct RmsNormRow {
  using Element = T;
  T* y;
  const T* x;
  const W* weight;
  NormSizes sizes;

  template <class Form>
  OPCAST_DEVICE void Run(Member& member, int64_t row, bool there) const {
    const int64_t n = member.n();
    const Held<T, Form> held(member, x + row * n, there);
    const Lifted sum = SumSquares<T>(member, sizes, [&](float lift) {
      Pair squares{};
      member.ForVectors<T, Form>([&](int k, int64_t begin) {
        Floats<T> values = Widen(held.At(k, begin));
        if constexpr (kWide<T>) {
          for (float& v : values.at) v *= lift;
        }
        squares = AddSquares(squares, values);
      });
      return squares;
    });
    if (!there) return;
    const RowScale<T> scale(sum, sizes);
    member.ForVectors<T, Form>([&](int k, int64_t begin) {
      const Floats<T> weights = LoadFloats<T, Form::kWhole>(weight, begin, n);
      const Floats<T> values = Widen(held.At(k, begin));
      const auto wide = [&](int e) { return double{values.at[e]}; };
      Store<Form::kWhole>(Narrow(scale.Times(values, weights, wide)), y + row * n, begin, n);
    });
  }
};

}  // namespace

opcast::Status RmsNormCuda(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using W = typename std::decay_t<decltype(a)>::W;
    const RmsNormRow<T, W> row{a.y, a.x, a.weight, NormSizes(a.eps, a.N)};
    return ForRows(a.batch, a.N, AlignedRows<T>({a.y, a.x, a.weight}, a.N), launch, row);
  });
}

}  // namespace opcast_ops
