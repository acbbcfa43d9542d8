// Kernels over the elements of arrays of several dtypes.
#pragma once

#include <cstdint>

#include "opcast/device.h"

namespace opcast_ops {

constexpr int kEachThreads = 256;

// Calls f(i) for each of n elements.
template <class F>
__global__ void __launch_bounds__(kEachThreads) EachKernel(int64_t n, F f) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * kEachThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kEachThreads + threadIdx.x; i < n; i += step)
    f(i);
}

template <class F>
opcast::Status ForEach(const opcast::Launch& launch, int64_t n, const F& f) {
  const int64_t tiles = (n + kEachThreads - 1) / kEachThreads;
  return opcast::Start(EachKernel<F>, opcast::Blocks(tiles), kEachThreads, 0, launch, n, f);
}

}  // namespace opcast_ops
