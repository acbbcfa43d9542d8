#include "../bug.h"
#include "block.h"
#include "standardise_rows.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 256;

struct Bugs {
  bool reuses_at_once, all_lanes_store;
};

// The sum over the block. All threads call it.
OPCAST_DEVICE double BlockSum(double value, double* of_warps, Bugs bugs) {
  for (int mask = 1; mask < opcast::kWarp; mask *= 2) {  // the first lane gets the sum of all
    const double other = opcast::ShuffleXor(value, mask);
    if (opcast::Lane() % (2 * mask) == 0) value += other;
  }
  if (opcast::Lane() == 0 || bugs.all_lanes_store) of_warps[Warp()] = value;
  __syncthreads();
  return opcast::WarpReduce(opcast::Lane() < Warps() ? of_warps[opcast::Lane()] : 0.0, Sum());
}

// A block normalises one row after the other.
template <class T>
__global__ void __launch_bounds__(kThreads)
    StandardiseKernel(T* y, const T* x, int64_t rows, int64_t n, double eps, Bugs bugs) {
  __shared__ double of_warps[kThreads / opcast::kWarp];
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    double sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += Wide(x[r * n + i]);
    const double mean = BlockSum(sum, of_warps, bugs) / static_cast<double>(n);
    if (!bugs.reuses_at_once) __syncthreads();
    double squares = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      squares += (Wide(x[r * n + i]) - mean) * (Wide(x[r * n + i]) - mean);
    const double scale = 1 / sqrt(BlockSum(squares, of_warps, bugs) / static_cast<double>(n) + eps);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      y[r * n + i] = Rounded<T>((Wide(x[r * n + i]) - mean) * scale);
    __syncthreads();
  }
}

}  // namespace

opcast::Status StandardiseRows(const StandardiseRowsArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    Bugs bugs{};
    bugs.reuses_at_once = BUG(
        "flashinfer-ai/flashinfer#3607",
        "The sums of the warps for the variance overwrote those for the mean without a barrier.");
    bugs.all_lanes_store = BUG(
        "punica-ai/punica#51",
        "All lanes of a warp stored its sum in one place, and only the first lane had the sum.");
    return opcast::Start(StandardiseKernel<T>, opcast::Blocks(a.batch), ThreadsFor(a.N, kThreads),
                         0, launch, a.y, a.x, a.batch, a.N, a.eps, bugs);
  });
}

}  // namespace museum_ops
