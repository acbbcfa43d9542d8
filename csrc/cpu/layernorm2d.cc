// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Two passes: the difference of mean squares would cancel
// when the mean is large. All in double, since the last sum may cancel, and rounded once, as are
// the mean and 1 / sqrt(variance + eps) that a gradient needs.
#include <cmath>
#include <memory>

#include "convert.h"
#include "layernorm2d.gen.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// The mean of a row, and the inverse of its standard deviation.
struct Moments {
  double mean, rstd;
};

template <int kWidth>
inline Moments MomentsOf(const float* x, int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const float* const rows[] = {x};
  const double mean = DoubleSum<kWidth>(n, rows, kAddFirst) / count;
  // About a float beside the mean, the squares sum up to a little more.
  const float near = static_cast<float>(mean);
  const auto add = [wide = double{near}](const auto* x, auto* sum) {
    const auto centred = x[0].all - wide;
    sum->all += centred * centred;
  };
  const double about = DoubleSum<kWidth>(n, rows, add, near);
  const double squares = about - (mean - near) * (mean - near) * count;
  return {mean, 1 / std::sqrt((squares < 0 ? 0 : squares) / count + eps)};
}

// weight and bias of a chunk of rows as doubles, one after the other.
template <class T>
inline std::unique_ptr<double[]> AsDoubles(const T* weight, const T* bias, int64_t n) {
  std::unique_ptr<double[]> both(new double[2 * n]);
  for (int64_t j = 0; j < n; ++j) both[j] = static_cast<float>(weight[j]);
  for (int64_t j = 0; j < n; ++j) both[n + j] = static_cast<float>(bias[j]);
  return both;
}

}  // namespace

opcast::Status Layernorm2d(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      FloatRow<width, T> x_row(n), result(n);
      const std::unique_ptr<double[]> weight = AsDoubles(a.weight, a.bias, n);
      const double* const bias = weight.get() + n;
      for (int64_t i = begin; i < end; ++i) {
        const float* x = x_row.Read(a.x + i * n);
        T* y = a.y + i * n;
        float* to = result.Write(y);
        const Moments row = MomentsOf<width>(x, n, a.eps);
        for (int64_t j = 0; j < n; ++j)
          to[j] = Round<float>(Fma<width>((x[j] - row.mean) * row.rstd, weight[j], bias[j]));
        result.Wrote(y);
        if (a.mean != nullptr) a.mean[i] = Round<float>(row.mean);
        if (a.rstd != nullptr) a.rstd[i] = Round<float>(row.rstd);
      }
    };
    opcast::ParallelFor(launch, a.M, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
