// What the kernels for GPUs share: numbers, reductions of a warp, and integers that several threads
// count up.
#pragma once

#include "opcast/device.h"

namespace museum_ops {

template <class T>
OPCAST_DEVICE double Wide(T x) {
  return static_cast<double>(static_cast<float>(x));
}

template <class T>
OPCAST_DEVICE T Rounded(double x) {
  return static_cast<T>(static_cast<float>(x));
}

struct Sum {
  OPCAST_DEVICE double operator()(double a, double b) const { return a + b; }
};

// NaN if one is NaN, as NumPy's maximum is.
struct Max {
  OPCAST_DEVICE double operator()(double a, double b) const { return a != a || a > b ? a : b; }
};

OPCAST_DEVICE int Warp() { return static_cast<int>(threadIdx.x) / opcast::kWarp; }
OPCAST_DEVICE int Warps() {
  return (static_cast<int>(blockDim.x) + opcast::kWarp - 1) / opcast::kWarp;
}

// Threads of a block for n elements, whole warps unless `exact`.
inline unsigned ThreadsFor(int64_t n, int64_t most, bool exact = false) {
  const int64_t unit = exact ? 1 : opcast::kWarp;
  const int64_t threads = (n + unit - 1) / unit * unit;
  return static_cast<unsigned>(threads < unit ? unit : threads < most ? threads : most);
}

// Adds to memory that several threads add to, and returns what was there. The emulator's threads
// take turns.
#if defined(OPCAST_EMULATOR)
template <class T>
T AddTogether(T* to, T value) {
  const T before = *to;
  *to += value;
  return before;
}
inline void ShowToAll() {}
#else
template <class T>
__device__ T AddTogether(T* to, T value) {
  return atomicAdd(to, value);
}
__device__ inline void ShowToAll() { __threadfence(); }
#endif

}  // namespace museum_ops
