// Kernels over the elements of dense arrays of several dtypes, of one of which a thread has 16
// bytes at a time.
#pragma once

#include <cstdint>

#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kVectorThreads = 256;
constexpr int kVectorsAtOnce = 2;  // that a thread has on the way

// For the vectors of n elements of Work::Element, `at` being the first element of one:
// work.Write<whole>(at, work.Read<whole>(at)), where `whole` says that all of it is there, and that
// it may be loaded and stored at once.
template <class Work>
__global__ void __launch_bounds__(kVectorThreads)
    VectorsKernel(int64_t n, bool aligned, Work work) {
  constexpr int kStep = kVectorThreads * Vector<typename Work::Element>::kSize;
  constexpr int kTile = kVectorsAtOnce * kStep;
  for (int64_t tile = blockIdx.x; tile * kTile < n; tile += gridDim.x) {
    const int64_t begin = tile * kTile;
    const int64_t own = begin + static_cast<int>(threadIdx.x) * (kStep / kVectorThreads);
    if (aligned && begin + kTile <= n) {
      decltype(work.template Read<true>(0)) read[kVectorsAtOnce];
      OPCAST_UNROLL
      for (int k = 0; k < kVectorsAtOnce; ++k) read[k] = work.template Read<true>(own + k * kStep);
      OPCAST_UNROLL
      for (int k = 0; k < kVectorsAtOnce; ++k) work.template Write<true>(own + k * kStep, read[k]);
    } else {
      OPCAST_NO_UNROLL
      for (int64_t at = own; at < n && at < begin + kTile; at += kStep)
        work.template Write<false>(at, work.template Read<false>(at));
    }
  }
}

template <class Work>
opcast::Status ForVectors(const opcast::Launch& launch, int64_t n, bool aligned, const Work& work) {
  constexpr int kTile = kVectorsAtOnce * kVectorThreads * Vector<typename Work::Element>::kSize;
  return opcast::Start(VectorsKernel<Work>, opcast::Blocks((n + kTile - 1) / kTile), kVectorThreads,
                       0, launch, n, aligned, work);
}

}  // namespace opcast_ops
