#include "../bug.h"
#include "block.h"
#include "running_sum.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / opcast::kWarp;

struct Bugs {
  bool overwrites, skips_barriers, overruns;
};

// The sum of a lane's value and those of the lanes before it.
OPCAST_DEVICE double WarpScan(double value) {
  double before = 0, sum = value;  // of the lanes whose numbers differ in the last bits
  for (int mask = 1; mask < opcast::kWarp; mask *= 2) {
    const double other = opcast::ShuffleXor(sum, mask);
    if ((opcast::Lane() & mask) != 0) before += other;
    sum += other;
  }
  return before + value;
}

// A block scans one row after the other, in pieces of as many numbers as it has threads.
template <class T>
__global__ void __launch_bounds__(kThreads)
    ScanKernel(T* y, const T* x, int64_t rows, int64_t n, Bugs bugs) {
  __shared__ double of_warps[kWarps];  // first the sum of each, then that of all before it, too
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    double carry = 0;
    for (int64_t begin = 0; begin < n; begin += kThreads) {
      const int64_t i = begin + threadIdx.x;
      if (bugs.skips_barriers && i >= n) continue;
      const double sum = WarpScan(i < n ? Wide(x[r * n + i]) : 0);
      if (opcast::Lane() == opcast::kWarp - 1) of_warps[Warp()] = sum;
      __syncthreads();
      if (Warp() == 0) {
        const bool there = opcast::Lane() < kWarps;
        const double scanned = WarpScan(there ? of_warps[opcast::Lane()] : 0);
        if (there || bugs.overruns) of_warps[opcast::Lane()] = scanned;
      }
      __syncthreads();
      if (i < n) y[r * n + i] = Rounded<T>(carry + (Warp() == 0 ? 0 : of_warps[Warp() - 1]) + sum);
      carry += of_warps[kWarps - 1];
      if (!bugs.overwrites) __syncthreads();
    }
  }
}

}  // namespace

opcast::Status RunningSum(const RunningSumArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    Bugs bugs{};
    bugs.overwrites =
        BUG("AccelerateHS/accelerate-llvm#97",
            "A piece of a row overwrote sums that threads still read for the piece before.");
    bugs.skips_barriers =
        BUG("AccelerateHS/accelerate#436",
            "Threads without a number in the last piece of a row came to no barrier.");
    bugs.overruns =
        BUG("pytorch/pytorch#192300",
            "All lanes stored into shared memory that had room for as many numbers as warps.");
    return opcast::Start(ScanKernel<T>, opcast::Blocks(a.batch), kThreads, 0, launch, a.y, a.x,
                         a.batch, a.N, bugs);
  });
}

}  // namespace museum_ops
