// y[i, j] = x[i, j] / sqrt(mean(x[i]^2) + eps) * weight[j], dense rows. Computed in double, where
// no square of a float overflows, and rounded once.
#include "rms_norm.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

template <class T>
struct RmsNormRow {
  using Element = T;
  T* y;
  const T* x;
  const T* weight;
  double eps;
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    const Held<T, kVectors> held(member, x + row * n, size, aligned);
    double squares = 0;
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      for (const T value : held.At(k, begin).at) {
        const double v = static_cast<float>(value);
        squares += v * v;
      }
    });
    const double scale = 1 / sqrt(member.Sum(squares) / static_cast<double>(n) + eps);
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> weights = Load(weight, begin, n, aligned);
      Vector<T> values = held.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        const double v = static_cast<float>(values.at[e]);
        values.at[e] = Round<T>(v * scale * static_cast<float>(weights.at[e]));
      }
      Store(values, y + row * n, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status RmsNormCuda(const RmsNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const RmsNormRow<T> row{a.y, a.x, a.weight, a.eps, AlignedRows<T>({a.y, a.x, a.weight}, a.N)};
    return ForRows(a.batch, a.N, launch, row);
  });
}

}  // namespace opcast_ops
