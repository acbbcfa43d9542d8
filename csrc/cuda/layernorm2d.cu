// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Computed in double and rounded once, as are the mean
// and 1 / sqrt(variance + eps) that a gradient needs.
//
// One pass finds both moments, of the differences from the row's first element: as that lies among
// the others, the variance cancels no more than n-fold however large the mean.
#include "layernorm2d.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

template <class T>
struct LayernormRow {
  using Element = T;
  T* y;
  float* mean;  // or null
  float* rstd;  // or null
  const T* x;
  const T* weight;
  const T* bias;
  double eps;
  bool aligned;

  template <int kVectors>
  OPCAST_DEVICE void Run(Member& member, int64_t row, int64_t size) const {
    const int64_t n = member.n();
    const Held<T, kVectors> held(member, x + row * n, size, aligned);
    const float first = size > 0 ? static_cast<float>(x[row * n]) : 0.0f;
    const double base = fabsf(first) <= kLargest ? first : 0.0f;
    double sums[2] = {0, 0};
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> values = held.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        const double v = begin + e < n ? static_cast<float>(values.at[e]) - base : 0.0;
        sums[0] += v;
        sums[1] += v * v;
      }
    });
    member.Sum(sums);
    const double count = static_cast<double>(n), shift = sums[0] / count;
    const double variance = sums[1] / count - shift * shift;
    const double center = base + shift, scale = 1 / sqrt((variance < 0 ? 0 : variance) + eps);
    member.ForVectors<T, kVectors>([&](int k, int64_t begin) {
      const Vector<T> weights = Load(weight, begin, n, aligned);
      const Vector<T> shifts = Load(bias, begin, n, aligned);
      Vector<T> values = held.At(k, begin);
      for (int e = 0; e < values.kSize; ++e) {
        const double normal = (static_cast<float>(values.at[e]) - center) * scale;
        values.at[e] =
            Round<T>(normal * static_cast<float>(weights.at[e]) + static_cast<float>(shifts.at[e]));
      }
      Store(values, y + row * n, begin, size, aligned);
    });
    if (member.Writes(row)) {  // also for rows of no elements, whose mean is NaN
      if (mean != nullptr) mean[row] = Round<float>(center);
      if (rstd != nullptr) rstd[row] = Round<float>(scale);
    }
  }
};

}  // namespace

opcast::Status Layernorm2dCuda(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const LayernormRow<T> row{
        a.y,      a.mean, a.rstd, a.x,
        a.weight, a.bias, a.eps,  AlignedRows<T>({a.y, a.x, a.weight, a.bias}, a.N)};
    return ForRows(a.M, a.N, launch, row);
  });
}

}  // namespace opcast_ops
