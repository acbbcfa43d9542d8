#include <vector>

#include "hadamard.gen.h"
#include "hadamard_backward.gen.h"
#include "numbers.h"

namespace inference_ops {
namespace {

template <class T>
void Transform(const T* x, int64_t n, double scale, double* sums, T* y) {
  for (int64_t k = 0; k < n; ++k) sums[k] = Widen(x[k]);
  for (int64_t step = 1; step < n; step *= 2) {
    for (int64_t k = 0; k < n; ++k) {
      if ((k & step) != 0) continue;
      const double a = sums[k], b = sums[k + step];
      sums[k] = a + b;
      sums[k + step] = a - b;
    }
  }
  for (int64_t k = 0; k < n; ++k) y[k] = Narrow<T>(scale * sums[k]);
}

template <class T>
opcast::Status TransformRows(const opcast::Launch& launch, const T* x, int64_t rows, int64_t n,
                             double scale, T* y) {
  opcast::ParallelFor(launch, rows, 1 + (1 << 12) / n, [=](int64_t begin, int64_t end) {
    std::vector<double> sums(n);
    for (int64_t i = begin; i < end; ++i) Transform(x + i * n, n, scale, sums.data(), y + i * n);
  });
  return opcast::Status::Ok();
}

}  // namespace

opcast::Status Hadamard(const HadamardArgs& args, const opcast::Launch& launch) {
  return Visit(
      args, [&](const auto& a) { return TransformRows(launch, a.x, a.batch, a.N, *a.scale, a.y); });
}

opcast::Status HadamardBackward(const HadamardBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return TransformRows(launch, a.grad_y, a.batch, a.N, *a.scale, a.grad_x);
  });
}

}  // namespace inference_ops
