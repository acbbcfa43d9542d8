#include "../bug.h"
#include "block.h"
#include "softmax_rows.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 1024;

struct Bugs {
  bool races, reads_beyond;
};

// Combines the values of the block by way of one number for each warp.
template <class Op>
OPCAST_DEVICE double Combine(double value, Op op, double neutral, double* of_warps, Bugs bugs) {
  value = opcast::WarpReduce(value, op);
  if (Warps() == 1) return value;
  if (!bugs.races) __syncthreads();  // the numbers of the reduction before have been read
  if (opcast::Lane() == 0) of_warps[Warp()] = value;
  __syncthreads();
  const bool there = opcast::Lane() < Warps() || bugs.reads_beyond;
  return opcast::WarpReduce(there ? of_warps[opcast::Lane()] : neutral, op);
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    SoftmaxKernel(T* y, const T* x, int64_t rows, int64_t n, Bugs bugs) {
  double* const of_warps = opcast::DynamicShared<double>();
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    double largest = -INFINITY;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      largest = Max()(largest, Wide(x[r * n + i]));
    largest = Combine(largest, Max(), -INFINITY, of_warps, bugs);
    double sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) sum += exp(Wide(x[r * n + i]) - largest);
    sum = Combine(sum, Sum(), 0, of_warps, bugs);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
      y[r * n + i] = Rounded<T>(exp(Wide(x[r * n + i]) - largest) / sum);
  }
}

}  // namespace

opcast::Status SoftmaxRows(const SoftmaxRowsArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    if (a.N == 0) return opcast::Status::Ok();
    Bugs bugs{};
    bugs.races = BUG(
        "ggml-org/llama.cpp#5853",
        "The sums of the warps overwrote their maxima while other warps were still reading those.");
    bugs.reads_beyond = BUG(
        "xlite-dev/LeetCUDA#419",
        "All lanes read a result of a warp, though a block had fewer warps than a warp has lanes.");
    const unsigned threads = ThreadsFor(a.N, kThreads,
                                        BUG("m0at/rvllm#1",
                                            "A block for a short row was no whole warp, and lanes "
                                            "without a thread took part in its maximum."));
    size_t shared = (threads + opcast::kWarp - 1) / opcast::kWarp * sizeof(double);
    if (BUG("mit-han-lab/llm-awq#201",
            "The kernel was started without the shared memory that it used."))
      shared = 0;
    return opcast::Start(SoftmaxKernel<T>, opcast::Blocks(a.batch), threads, shared, launch, a.y,
                         a.x, a.batch, a.N, bugs);
  });
}

}  // namespace museum_ops
