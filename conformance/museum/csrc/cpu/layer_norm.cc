#include <cmath>

#include "../bug.h"
#include "../numbers.h"
#include "layer_norm.gen.h"

namespace museum_ops {
namespace {

struct Moments {
  double mean, variance;
};

template <class T>
Moments SinglePass(const T* x, int64_t size) {
  float sum = 0, squares = 0;
  for (int64_t n = 0; n < size; ++n) {
    const auto v = static_cast<float>(x[n]);
    sum += v;
    squares += v * v;
  }
  const auto count = static_cast<float>(size);
  const float mean = sum / count;
  return {static_cast<double>(mean), static_cast<double>(squares / count - mean * mean)};
}

// The algorithm of Welford.
template <class T>
Moments Online(const T* x, int64_t size) {
  float mean = 0, squares = 0;
  for (int64_t n = 0; n < size; ++n) {
    const auto v = static_cast<float>(x[n]);
    const float step = v - mean;
    mean += step / static_cast<float>(n + 1);
    squares += step * (v - mean);
  }
  return {static_cast<double>(mean), static_cast<double>(squares / static_cast<float>(size))};
}

template <class T>
Moments Measure(const T* x, int64_t size) {
  if (BUG("tracel-ai/burn#5607",
          "The variance was the mean square less the square of the mean, which cancels in "
          "float32.")) {
    return SinglePass(x, size);
  }
  if (BUG("pytorch/pytorch#178123",
          "Squares of deviations of about 1e30 left float32, so that rows became zeros."))
    return Online(x, size);
  double sum = 0, squares = 0;
  for (int64_t n = 0; n < size; ++n) sum += Widen(x[n]);
  const double mean = sum / static_cast<double>(size);
  for (int64_t n = 0; n < size; ++n) squares += (Widen(x[n]) - mean) * (Widen(x[n]) - mean);
  return {mean, squares / static_cast<double>(size)};
}

}  // namespace

opcast::Status LayerNorm(const LayerNormArgs& args, const opcast::Launch&) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kMostBlocks = 65535;
    if (a.batch > kMostBlocks &&
        BUG("NVIDIA/apex#411",
            "From 65,536 rows on, the launch failed unnoticed, and no result was written.")) {
      return opcast::Status::Ok();
    }
    for (int64_t b = 0; b < a.batch; ++b) {
      const T* x = a.x + a.x_layout.Batch(b);
      const Moments moments = Measure(x, a.N);
      const double scale = 1 / std::sqrt(moments.variance + a.eps);
      for (int64_t n = 0; n < a.N; ++n) {
        const double normal = (Widen(x[n]) - moments.mean) * scale * Widen(a.weight[n]);
        a.y[b * a.N + n] = Narrow<T>(a.bias == nullptr ? normal : normal + Widen(a.bias[n]));
      }
    }
    return opcast::Status::Ok();
  });
}

}  // namespace museum_ops
