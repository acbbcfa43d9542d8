// A row for each warp, which must be as wide on the emulated device as on AMD's.
#include "opcast/device.h"
#include "total.gen.h"

namespace waves_ops {
namespace {

constexpr int kThreads = 128, kRows = kThreads / opcast::kWarp;
static_assert(opcast::kWarp == 64);

template <class T>
__global__ void __launch_bounds__(kThreads) TotalKernel(T* y, const T* x, int64_t rows, int64_t n) {
  const int64_t row = int64_t{blockIdx.x} * kRows + threadIdx.x / opcast::kWarp;
  float sum = 0;
  for (int64_t i = opcast::Lane(); row < rows && i < n; i += opcast::kWarp)
    sum += static_cast<float>(x[row * n + i]);
  sum = opcast::WarpReduce(sum, [](float a, float b) { return a + b; });
  if (row < rows && opcast::Lane() == 0) y[row] = static_cast<T>(sum);
}

opcast::Status Run(const TotalArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const unsigned grid = opcast::Blocks((a.batch + kRows - 1) / kRows);
    return opcast::Start(TotalKernel<T>, grid, kThreads, 0, launch, a.y, a.x, a.batch, a.N);
  });
}

}  // namespace

opcast::Status TotalWide(const TotalArgs& args, const opcast::Launch& launch) {
  return Run(args, launch);
}
opcast::Status Total(const TotalArgs& args, const opcast::Launch& launch) {
  return Run(args, launch);
}

}  // namespace waves_ops
