// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Both come from one pass over the differences to the
// row's first number: then what cancels in the variance is at most n times as large as it, however
// large the mean is. All in double, since the last sum may cancel, and rounded once, as are the
// mean and 1 / sqrt(variance + eps) that a gradient needs.
#include <cmath>
#include <memory>

#include "layernorm2d.gen.h"
#include "map.h"
#include "rows.h"

namespace opcast_ops {
namespace {

// The mean of a row, and the inverse of its standard deviation.
struct Moments {
  double mean, rstd;
};

template <int kWidth, class T>
inline Moments MomentsOf(const T* x, int64_t n, double eps) {
  const double count = static_cast<double>(n);
  const float first = n > 0 ? static_cast<float>(x[0]) : 0;
  const T* const rows[] = {x};
  const auto add = [wide = double{first}](const auto* x, auto* sums) {
    const auto distance = x[0].all - wide;
    sums[0].all += distance;
    sums[1].all += distance * distance;
  };
  double sums[2];
  DoubleSums<kWidth>(n, rows, add, sums, first);
  const double squares = sums[1] - sums[0] * sums[0] / count;
  return {first + sums[0] / count, 1 / std::sqrt((squares < 0 ? 0 : squares) / count + eps)};
}

// weight and bias of a chunk of rows as doubles, one after the other.
template <int kWidth, class T>
inline std::unique_ptr<double[]> AsDoubles(const T* weight, const T* bias, int64_t n) {
  std::unique_ptr<double[]> both(new double[2 * n]);
  FloatRow<kWidth, T> row(n);
  const auto widen = [&row, n](const T* from, double* to) {
    const float* floats = row.Read(from);
    for (int64_t j = 0; j < n; ++j) to[j] = floats[j];
  };
  widen(weight, both.get());
  widen(bias, both.get() + n);
  return both;
}

}  // namespace

opcast::Status Layernorm2d(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    const auto rows = [&a, n](int64_t begin, int64_t end, auto width) {
      const std::unique_ptr<double[]> both = AsDoubles<width>(a.weight, a.bias, n);
      const double *const weight = both.get(), *const bias = weight + n;
      for (int64_t i = begin; i < end; ++i) {
        const T* x = a.x + i * n;
        const Moments row = MomentsOf<width>(x, n, a.eps);
        const auto f = [=](int64_t j, double x) {
          return Fma<width>((x - row.mean) * row.rstd, weight[j], bias[j]);
        };
        Map<width>(n, f, a.y + i * n, x);
        if (a.mean != nullptr) a.mean[i] = Round<float>(row.mean);
        if (a.rstd != nullptr) a.rstd[i] = Round<float>(row.rstd);
      }
    };
    opcast::ParallelFor(launch, a.M, RowsPerChunk(n), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
