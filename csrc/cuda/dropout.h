// What dropout does to numbers, and to their gradients.
#pragma once

#include <cmath>
#include <cstdint>

#include "common/philox.h"
#include "opcast/device.h"
#include "vectors.h"

namespace opcast_ops {

constexpr int kDropThreads = 256;

// Which numbers are kept: uniform integers from `least` on. They are multiplied by `scale`.
template <class I>
struct Drop {
  const I* seed;
  int32_t least;
  float scale;
};

// to[i] = x[i] * scale for numbers that are kept, else 0: four for each thread.
template <class T, class I>
__global__ void __launch_bounds__(kDropThreads)
    DropKernel(Drop<I> drop, int64_t n, bool aligned, const T* x, T* to) {
  struct alignas(4 * sizeof(T)) Four {
    T at[4];
  };
  const RandomStream stream(drop.seed);
  const int64_t step = int64_t{gridDim.x} * kDropThreads;
  for (int64_t i = int64_t{blockIdx.x} * kDropThreads + threadIdx.x; 4 * i < n; i += step) {
    const RandomBlock block = stream.BlockAt(i);
    const bool whole = aligned && 4 * i + 4 <= n;
    Four four;
    if (whole) {
      four = *reinterpret_cast<const Four*>(x + 4 * i);
    } else {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) four.at[e] = 4 * i + e < n ? x[4 * i + e] : static_cast<T>(0.0f);
    }
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const float scaled = static_cast<float>(four.at[e]) * drop.scale;
      four.at[e] = static_cast<T>(Uniform(block.at[e]) >= drop.least ? scaled : 0.0f);
    }
    if (whole) {
      *reinterpret_cast<Four*>(to + 4 * i) = four;
    } else {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) {
        if (4 * i + e < n) to[4 * i + e] = four.at[e];
      }
    }
  }
}

template <class T, class I>
opcast::Status DropAll(const opcast::Launch& launch, const I* seed, double p, int64_t n, const T* x,
                       T* to) {
  const Drop<I> drop{seed, static_cast<int32_t>(std::ceil(p * kUniforms)),
                     p < 1 ? static_cast<float>(1 / (1 - p)) : 0.0f};
  const int64_t tiles = (n + 4 * kDropThreads - 1) / (4 * kDropThreads);
  return opcast::Start(DropKernel<T, I>, opcast::Blocks(tiles), kDropThreads, 0, launch, drop, n,
                       Aligned({x, to}), x, to);
}

}  // namespace opcast_ops
