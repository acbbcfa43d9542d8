#include <algorithm>

#include "../bug.h"
#include "block.h"
#include "segment_total.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 1024;

// A thread has a column of a segment, and then the one that lies as many further on as there are
// threads.
template <class T>
__global__ void __launch_bounds__(kThreads)
    TotalKernel(T* y, const T* x, const int64_t* bounds, int64_t segments, int64_t columns,
                bool loops) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads, count = segments * columns;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count;
       i += loops ? step : count) {
    double sum = 0;
    for (int64_t row = bounds[i / columns]; row < bounds[i / columns + 1]; ++row)
      sum += Wide(x[row * columns + i % columns]);
    y[i] = Rounded<T>(sum);
  }
}

}  // namespace

opcast::Status SegmentTotal(const SegmentTotalArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    constexpr int64_t kThreadsOfMultiprocessor = 2048;
    const int64_t count = a.B * a.K;
    const bool cut =
        BUG("pyg-team/pyg-lib#718",
            "The grid was cut to what runs at once, and the kernel had no loop over the rest.");
    const int64_t blocks = std::min((count + kThreads - 1) / kThreads,
                                    launch.sm_count * kThreadsOfMultiprocessor / 256);
    return opcast::Start(TotalKernel<T>, static_cast<unsigned>(blocks), kThreads, 0, launch, a.y,
                         a.x, a.bounds, a.B, a.K, !cut);
  });
}

}  // namespace museum_ops
