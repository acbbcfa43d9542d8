// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows. Two passes, in double: the difference of mean squares
// would cancel when the mean is large. Rounded once, as are the mean and 1 / sqrt(variance + eps)
// that a gradient needs.
#include <cmath>

#include "float_row.h"
#include "layernorm2d.gen.h"
#include "rows.h"
#include "scalar.h"

namespace opcast_ops {
namespace {

// The mean of a row, and the inverse of its standard deviation.
struct Moments {
  double mean, rstd;

  Moments(const float* x, int64_t n, double eps) {
    const double count = static_cast<double>(n);
    mean = Sum(n, [x](int64_t j) { return double{x[j]}; }) / count;
    const double squares = Sum(n, [x, this](int64_t j) {
      const double centred = x[j] - mean;
      return centred * centred;
    });
    rstd = 1 / std::sqrt(squares / count + eps);
  }
};

}  // namespace

opcast::Status Layernorm2d(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.N;
    opcast::ParallelFor(launch, a.M, RowsPerChunk(n), [&a, n](int64_t begin, int64_t end) {
      FloatRow<T> x_row(n), weight_row(n), bias_row(n), result(n);
      const float* weight = weight_row.Read(a.weight);
      const float* bias = bias_row.Read(a.bias);
      for (int64_t i = begin; i < end; ++i) {
        const float* x = x_row.Read(a.x + i * n);
        T* y = a.y + i * n;
        float* to = result.Write(y);
        const Moments row(x, n, a.eps);
        for (int64_t j = 0; j < n; ++j)
          to[j] = Round<float>((x[j] - row.mean) * row.rstd * weight[j] + bias[j]);
        result.Wrote(y);
        if (a.mean != nullptr) a.mean[i] = Round<float>(row.mean);
        if (a.rstd != nullptr) a.rstd[i] = Round<float>(row.rstd);
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
