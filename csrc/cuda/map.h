// Elementwise kernels over dense arrays of one dtype.
#pragma once

#include <cstdint>

#include "opcast/device.h"
#include "vectors.h"

namespace opcast_ops {

// The arrays of a Map: each has n elements.
template <class T, int kOutputs, int kInputs>
struct MapArrays {
  T* outputs[kOutputs];
  const T* inputs[kInputs];
  int64_t n;
  bool aligned = true;
};

constexpr int kMapThreads = 256;
constexpr int kMapVectors = 2;  // of each input that a thread has on the way at once

// Calls F::Of(inputs, outputs) for the elements of each index, arrays of one element per array.
template <class F, class T, int kOutputs, int kInputs>
__global__ void __launch_bounds__(kMapThreads) MapKernel(MapArrays<T, kOutputs, kInputs> arrays) {
  constexpr int kSize = Vector<T>::kSize;
  constexpr int64_t kTile = int64_t{kMapThreads} * kMapVectors * kSize;
  for (int64_t tile = blockIdx.x; tile * kTile < arrays.n; tile += gridDim.x) {
    const int64_t first = tile * kTile + int64_t{threadIdx.x} * kSize;
    Vector<T> in[kMapVectors][kInputs];
    for (int k = 0; k < kMapVectors; ++k) {
      for (int i = 0; i < kInputs; ++i)
        in[k][i] =
            Load(arrays.inputs[i], first + k * kMapThreads * kSize, arrays.n, arrays.aligned);
    }
    for (int k = 0; k < kMapVectors; ++k) {
      Vector<T> out[kOutputs];
      for (int e = 0; e < kSize; ++e) {
        T from[kInputs], to[kOutputs];
        for (int i = 0; i < kInputs; ++i) from[i] = in[k][i].at[e];
        F::Of(from, to);
        for (int o = 0; o < kOutputs; ++o) out[o].at[e] = to[o];
      }
      for (int o = 0; o < kOutputs; ++o)
        Store(out[o], arrays.outputs[o], first + k * kMapThreads * kSize, arrays.n, arrays.aligned);
    }
  }
}

template <class F, class T, int kOutputs, int kInputs>
opcast::Status Map(MapArrays<T, kOutputs, kInputs> arrays, const opcast::Launch& launch) {
  constexpr int64_t kTile = int64_t{kMapThreads} * kMapVectors * Vector<T>::kSize;
  for (const void* p : arrays.outputs) arrays.aligned = arrays.aligned && Aligned({p});
  for (const void* p : arrays.inputs) arrays.aligned = arrays.aligned && Aligned({p});
  const int64_t tiles = (arrays.n + kTile - 1) / kTile;
  return opcast::Start(MapKernel<F, T, kOutputs, kInputs>, opcast::Blocks(tiles), kMapThreads, 0,
                       launch, arrays);
}

}  // namespace opcast_ops
