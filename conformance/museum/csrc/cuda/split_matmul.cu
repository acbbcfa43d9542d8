#include <algorithm>

#include "../bug.h"
#include "block.h"
#include "split_matmul.gen.h"

namespace museum_ops {
namespace {

constexpr int kThreads = 64;  // columns of a block
constexpr int64_t kStep = 32;

struct Split {
  int64_t count, step;
};

template <class T>
struct Product {
  float *y, *parts;
  int32_t* arrived;
  const T *x, *w;
  int64_t m, k, n;
  Split split;
  bool adds_to_result;

  // The sum of the products from the s-th part of k.
  OPCAST_DEVICE float Part(int64_t s, int64_t row, int64_t column) const {
    float sum = 0;
    const int64_t end = (s + 1) * split.step < k ? (s + 1) * split.step : k;
    for (int64_t i = s * split.step; i < end; ++i)
      sum += static_cast<float>(x[row * k + i]) * static_cast<float>(w[i * n + column]);
    return sum;
  }
};

// A block has a part of the sums of 64 columns of a row. The last one that has its part adds up all
// of them, in order.
template <class T>
__global__ void __launch_bounds__(kThreads) SplitKernel(Product<T> p, int64_t tiles) {
  __shared__ bool last;
  for (int64_t b = blockIdx.x; b < p.split.count * p.m * tiles; b += gridDim.x) {
    const int64_t s = b / (p.m * tiles), row = b / tiles % p.m,
                  column = b % tiles * kThreads + threadIdx.x;
    const bool there = column < p.n;
    if (p.adds_to_result) {
      if (there && s == 0) p.y[row * p.n + column] = 0;
      __syncthreads();
      if (there) AddTogether(&p.y[row * p.n + column], p.Part(s, row, column));
      continue;
    }
    if (there) p.parts[(s * p.m + row) * p.n + column] = p.Part(s, row, column);
    ShowToAll();
    __syncthreads();
    if (threadIdx.x == 0) last = AddTogether(&p.arrived[b % (p.m * tiles)], 1) == p.split.count - 1;
    __syncthreads();
    if (last && there) {
      float sum = 0;
      for (int64_t i = 0; i < p.split.count; ++i) sum += p.parts[(i * p.m + row) * p.n + column];
      p.y[row * p.n + column] = sum;
    }
    if (last && threadIdx.x == 0) p.arrived[b % (p.m * tiles)] = 0;
    __syncthreads();
  }
}

// How a sum is split: by its length alone, so that a row has the same bits in every batch.
Split SplitOf(int64_t m, int64_t k, const opcast::Launch& launch) {
  int64_t count = std::max<int64_t>(1, (k + kStep - 1) / kStep);
  if (BUG("ROCm/aiter#4378",
          "Sums were split into as many parts as blocks were left for a row, so bits depended on "
          "the batch.")) {
    count = std::clamp<int64_t>(launch.sm_count / m, 1, count);
  }
  return {count, (k + count - 1) / count};
}

}  // namespace

opcast::Status SplitMatmul(const SplitMatmulArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t tiles = (a.N + kThreads - 1) / kThreads;
    if (a.M * tiles == 0) return opcast::Status::Ok();
    const Split split = SplitOf(a.M, a.K, launch);
    const bool adds_to_result = BUG("sgl-project/sglang#29749",
                                    "Blocks added to a result that one of them set to zero, and "
                                    "nobody waited until it had done so.");
    static bool cleared = false;
    if (!BUG("ROCm/aiter#5393",
             "The counter of blocks was set to zero where it was first allocated, and not before "
             "each launch.") ||
        !cleared) {
      const size_t bytes = static_cast<size_t>(a.M * tiles) * sizeof *a.arrived;
      if (cudaMemsetAsync(a.arrived, 0, bytes, static_cast<cudaStream_t>(launch.stream)) !=
          cudaSuccess)
        return opcast::Status::Error("cudaMemsetAsync failed");
      cleared = true;
    }
    const Product<T> product{a.y, a.parts, a.arrived, a.x,   a.w,
                             a.M, a.K,     a.N,       split, adds_to_result};
    return opcast::Start(SplitKernel<T>, opcast::Blocks(split.count * a.M * tiles), kThreads, 0,
                         launch, product, tiles);
  });
}

}  // namespace museum_ops
