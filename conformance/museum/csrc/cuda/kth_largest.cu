#include "../bug.h"
#include "block.h"
#include "kth_largest.gen.h"

namespace museum_ops {
namespace {

constexpr int kBits = 8, kThreads = 1 << kBits;

struct Shared {
  uint32_t counts[kThreads + 1];  // of the keys that have at least this digit
  uint32_t digit;
};

// A block finds the digits of the key, the highest first: it counts the digits of those keys that
// begin like it.
__global__ void __launch_bounds__(kThreads)
    SelectKernel(uint32_t* y, const uint32_t* x, int64_t rows, int64_t n, int64_t k, bool races) {
  __shared__ Shared shared;
  const int thread = static_cast<int>(threadIdx.x);
  for (int64_t r = blockIdx.x; r < rows; r += gridDim.x) {
    uint32_t found = 0, rank = static_cast<uint32_t>(k);
    for (int shift = 32 - kBits; shift >= 0; shift -= kBits) {
      shared.counts[thread] = 0;
      if (thread == 0) shared.counts[kThreads] = 0;
      __syncthreads();
      for (int64_t i = thread; i < n; i += kThreads) {
        const uint32_t key = x[r * n + i];
        const bool begins_alike = shift == 32 - kBits || (key ^ found) >> (shift + kBits) == 0;
        if (begins_alike) AddTogether(&shared.counts[key >> shift & (kThreads - 1)], 1U);
      }
      __syncthreads();
      for (int digit = kThreads - 1; thread == 0 && digit >= 0; --digit)
        shared.counts[digit] += shared.counts[digit + 1];
      __syncthreads();
      if (shared.counts[thread] >= rank && shared.counts[thread + 1] < rank)
        shared.digit = static_cast<uint32_t>(thread);
      __syncthreads();
      found |= shared.digit << shift;
      rank -= shared.counts[shared.digit + 1];
      if (!races) __syncthreads();
    }
    if (thread == 0) y[r] = found;
    __syncthreads();
  }
}

}  // namespace

opcast::Status KthLargest(const KthLargestArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const bool races = BUG("flashinfer-ai/flashinfer#3529",
                           "Threads cleared the counts of a digit while others were still reading "
                           "those of the digit before.");
    return opcast::Start(SelectKernel, opcast::Blocks(a.batch), kThreads, 0, launch, a.y, a.x,
                         a.batch, a.N, a.k, races);
  });
}

}  // namespace museum_ops
