#include "../bug.h"
#include "block.h"
#include "peak_normalise.gen.h"

namespace museum_ops {
namespace {

constexpr int kGroup = 64, kGroups = 4, kThreads = kGroup * kGroups;

struct Bugs {
  bool returns_early, keeps_tail, races;
};

// A thread has a number. A lane of the first warp finds the peak of a group.
template <class T>
__global__ void __launch_bounds__(kThreads)
    PeakKernel(T* y, T* peaks, const T* x, int64_t m, Bugs bugs) {
  __shared__ double amounts[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + thread;
  if (bugs.returns_early && i >= m) return;
  const double number = i < m ? Wide(x[i]) : 0;
  if (i < m || !bugs.keeps_tail) amounts[thread] = fabs(number);
  __syncthreads();
  if (Warp() == 0) {
    double peak = 0;
    for (int k = 0; k < kGroup && thread < kGroups; ++k)
      peak = Max()(peak, amounts[thread * kGroup + k]);
    if (!bugs.races) opcast::SyncWarp();
    if (thread < kGroups) amounts[thread] = peak;
  }
  __syncthreads();
  if (i >= m) return;
  const double peak = amounts[thread / kGroup];
  y[i] = Rounded<T>(number / (peak == 0 ? 1 : peak));
  if (thread % kGroup == 0) peaks[i / kGroup] = Rounded<T>(peak);
}

}  // namespace

opcast::Status PeakNormalise(const PeakNormaliseArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    Bugs bugs{};
    bugs.returns_early = BUG("pytorch/FBGEMM#5857",
                             "Threads beyond the end returned before a barrier, at which those of "
                             "other groups waited forever.");
    bugs.keeps_tail = BUG("bitsandbytes-foundation/bitsandbytes#1884",
                          "The last group, if it was short, took memory that nobody had written "
                          "for the rest of its numbers.");
    bugs.races = BUG("pytorch/pytorch#20182",
                     "Lanes stored results where other lanes of the warp were still reading.");
    opcast::Launch on = launch;
    if (BUG("bitsandbytes-foundation/bitsandbytes#2052",
            "The kernel was started on the default stream instead of the caller's.")) {
      on.stream = nullptr;
    }
    return opcast::Start(PeakKernel<T>, static_cast<unsigned>((a.M + kThreads - 1) / kThreads),
                         kThreads, 0, on, a.y, a.peak, a.x, a.M, bugs);
  });
}

}  // namespace museum_ops
