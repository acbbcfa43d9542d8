// y[i, j] = exp(x[i, j] - max) / sum of the same over row i, dense rows. The differences are pairs
// of floats and the sum is double, so that small probabilities are right too; the rest is float,
// three roundings. A row that holds NaN or +inf, or nothing but -inf, becomes NaN.
#include "exp.h"
#include "rows.h"
#include "softmax.gen.h"

namespace opcast_ops {
namespace {

template <class T>
struct SoftmaxRow {
  using Element = T;
  T* y;
  const T* x;
  bool aligned;

  // e^(value - max).
  OPCAST_DEVICE static float Weight(T value, float max) {
    const Pair difference = Add(static_cast<float>(value), -max);
    const bool counts = difference.high > -200;  // else the result is 0, and the rest may be large
    return Exp(difference.high, counts ? difference.low : 0).Value();
  }

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    Held<T, kVectors> held(member, x + row * n, size, aligned);
    double largest[] = {-INFINITY};
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> values = held.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        const double v = static_cast<float>(values.at[e]);
        if (begin + e < size && v > largest[0]) largest[0] = v;
      }
    });
    member.Combine(largest, -INFINITY, [](double a, double b) { return a > b ? a : b; });
    const float max = static_cast<float>(largest[0]);
    double sum = 0;
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> values = held.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        if (begin + e < size) sum += Weight(values.at[e], max);
      }
    });
    const float scale = static_cast<float>(1 / member.Sum(sum));
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      Vector<T> values = held.At(k, begin);
      for (T& value : values.at) value = Round<T>(Weight(value, max) * scale);
      Store(values, y + row * n, begin, size, aligned);
    });
  }
};

}  // namespace

opcast::Status SoftmaxCuda(const SoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const SoftmaxRow<T> row{a.y, a.x, AlignedRows<T>({a.y, a.x}, a.N)};
    return ForRows(a.batch, a.N, launch, row);
  });
}

}  // namespace opcast_ops
