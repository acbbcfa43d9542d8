// Runs the kernels of .cu files on the CPU, for tests: device.h for g++ with -DOPCAST_EMULATOR.
//
// Each thread of a block is a fiber with a stack of its own. A fiber runs until it waits for its
// warp or its block; when all wait at one place, all go on. Where they do not, the program ends
// and says which threads wait where: on a GPU that would hang, or go wrong silently. Blocks run
// one after the other. Blocks, and between barriers warps and lanes, come in other orders from
// launch to launch, so that results are wrong where a kernel needs an order for which it does not
// wait. Arithmetic is that of the CPU: the same bits as a GPU's for + - * / fmaf sqrtf and
// conversions.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "run.h"
#if OPCAST_ROCM
#include "start_hip.h"
#else
#include "opcast/start_cuda.h"
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
// What stands in a declaration cannot be looked at: for a check, the body calls StayWithin.
#define __launch_bounds__(...)
// Blocks of a thread of the process run one at a time.
#define __shared__ static thread_local

// The threads of a warp: 32 as on NVIDIA's GPUs and AMD's RDNA, or 64 as on AMD's CDNA.
#ifndef OPCAST_EMULATOR_WARP
#define OPCAST_EMULATOR_WARP 32
#endif

namespace opcast::device {

constexpr int kWarp = OPCAST_EMULATOR_WARP;
#if OPCAST_ROCM
constexpr size_t kMostShared = 64 << 10;
#else
constexpr size_t kMostShared = kWarp == 64 ? 64 << 10 : 99 << 10;
#endif

// What a thread of a kernel knows of itself.
struct Place {
  dim3 thread, block, block_size, grid_size;
};
const Place& Here();

#define threadIdx (::opcast::device::Here().thread)
#define blockIdx (::opcast::device::Here().block)
#define blockDim (::opcast::device::Here().block_size)
#define gridDim (::opcast::device::Here().grid_size)

// Ends the program if the block of the calling thread has more threads than the kernel's launch
// bound: a GPU would not start it. TestCUDAKernelsOnTheEmulator puts a call into each kernel.
void StayWithin(unsigned most, const char* kernel);

// Waits for the block or the warp. All threads must wait in the same line.
void WaitForBlock(const char* file, int line);
void WaitForWarp(const char* what);
#define __syncthreads() ::opcast::device::WaitForBlock(__FILE__, __LINE__)

// Gives `size` bytes to the warp and waits for it. Peer(lane) is then what that lane of the warp
// gave, until the second next Exchange.
void Exchange(const char* what, const void* data, size_t size);
const void* Peer(int lane);
int WarpLane();

template <class T>
void Narrow(float first, float second, T* to) {
  to[0] = static_cast<T>(first);
  to[1] = static_cast<T>(second);
}

// What a GPU approximates, and takes for zero. The last bits differ from those of a GPU.
constexpr float kSmallestNormal = 0x1p-126f;
inline float FastExp2(float x) { return x < -126 ? 0 : exp2f(x); }
inline float FastInverse(float x) {
  const float inverse = 1 / (fabsf(x) < kSmallestNormal ? copysignf(0, x) : x);
  return fabsf(inverse) < kSmallestNormal ? copysignf(0, inverse) : inverse;
}
inline float MaxOrNan(float a, float b) { return a != a || a > b ? a : b; }

void* DynamicShared();

template <class T>
T Received(int lane) {
  T value;
  std::memcpy(&value, Peer(lane), sizeof value);
  return value;
}

template <class T>
T ShuffleXor(T value, int mask, int width) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  Exchange("ShuffleXor", &value, sizeof value);
  const int lane = WarpLane(), from = lane ^ mask;
  return from / width <= lane / width ? Received<T>(from) : value;
}

inline bool WarpAny(bool yes) {
  Exchange("WarpAny", &yes, sizeof yes);
  bool any = false;
  for (int lane = 0; lane < kWarp; ++lane) any |= Received<bool>(lane);
  return any;
}

inline void SyncWarp() { WaitForWarp("SyncWarp"); }
inline void WaitForEarlier() {}  // a kernel begins when the one before it has ended

// The emulator copies at once: a kernel that does not wait is not found out.
inline void CopyAsync(void* shared, const void* global) { std::memcpy(shared, global, 16); }
inline void CommitCopies() {}
template <int kPending>
void WaitCopies() {}

}  // namespace opcast::device

#include "wmma.h"
