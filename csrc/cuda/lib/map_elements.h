// Elementwise kernels over dense arrays of one dtype.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

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
template <class T>
constexpr int64_t kMapTile = int64_t{kMapThreads} * kMapVectors * Vector<T>::kSize;

// Results, which are floats to be rounded or elements as they are.
template <class T, class Result>
OPCAST_DEVICE void Write(Result first, Result second, T* to) {
  if constexpr (std::is_same_v<T, Result>) {
    to[0] = first;
    to[1] = second;
  } else {
    opcast::Narrow(first, second, to);
  }
}

// A thread's vectors of a tile whose elements are all there, the first at element `first`.
template <class F, class T, int kOutputs, int kInputs>
OPCAST_DEVICE void MapVectors(const MapArrays<T, kOutputs, kInputs>& arrays, int64_t first) {
  using Result = typename F::template Result<T>;
  constexpr int kSize = Vector<T>::kSize, kStep = kMapThreads * kSize;
  Vector<T> in[kMapVectors][kInputs];
  OPCAST_UNROLL
  for (int k = 0; k < kMapVectors; ++k) {
    OPCAST_UNROLL
    for (int i = 0; i < kInputs; ++i) in[k][i] = Load<true>(arrays.inputs[i] + first, k * kStep, 0);
  }
  OPCAST_UNROLL
  for (int k = 0; k < kMapVectors; ++k) {
    Vector<T> out[kOutputs];
    OPCAST_UNROLL
    for (int e = 0; e < kSize; e += 2) {
      Result to[2][kOutputs];
      OPCAST_UNROLL
      for (int half = 0; half < 2; ++half) {
        T from[kInputs];
        OPCAST_UNROLL
        for (int i = 0; i < kInputs; ++i) from[i] = in[k][i].at[e + half];
        F::Of(from, to[half]);
      }
      OPCAST_UNROLL
      for (int o = 0; o < kOutputs; ++o) Write(to[0][o], to[1][o], &out[o].at[e]);
    }
    OPCAST_UNROLL
    for (int o = 0; o < kOutputs; ++o) Store<true>(out[o], arrays.outputs[o] + first, k * kStep, 0);
  }
}

// Calls F::Of(inputs, results) for the elements of each index: arrays of an element per input and
// of an F::Result<T> per output.
template <class F, class T, int kOutputs, int kInputs>
__global__ void __launch_bounds__(kMapThreads) MapKernel(MapArrays<T, kOutputs, kInputs> arrays) {
  for (int64_t tile = blockIdx.x; tile * kMapTile<T> < arrays.n; tile += gridDim.x) {
    const int64_t begin = tile * kMapTile<T>, end = begin + kMapTile<T>;
    if (arrays.aligned && end <= arrays.n) {
      MapVectors<F>(arrays, begin + static_cast<int>(threadIdx.x) * Vector<T>::kSize);
      continue;
    }
    OPCAST_NO_UNROLL
    for (int64_t j = begin + threadIdx.x; j < end && j < arrays.n; j += kMapThreads) {
      T from[kInputs];
      typename F::template Result<T> to[kOutputs];
      OPCAST_UNROLL
      for (int i = 0; i < kInputs; ++i) from[i] = arrays.inputs[i][j];
      F::Of(from, to);
      OPCAST_UNROLL
      for (int o = 0; o < kOutputs; ++o) arrays.outputs[o][j] = static_cast<T>(to[o]);
    }
  }
}

template <class F, class T, int kOutputs, int kInputs>
opcast::Status Map(MapArrays<T, kOutputs, kInputs> arrays, const opcast::Launch& launch) {
  for (const void* p : arrays.outputs) arrays.aligned = arrays.aligned && Aligned({p});
  for (const void* p : arrays.inputs) arrays.aligned = arrays.aligned && Aligned({p});
  const int64_t tiles = (arrays.n + kMapTile<T> - 1) / kMapTile<T>;
  return opcast::Start(MapKernel<F, T, kOutputs, kInputs>, opcast::Blocks(tiles), kMapThreads, 0,
                       launch, arrays);
}

}  // namespace opcast_ops
