// device.h for HIP. Only what is named here differs between compilers.
#pragma once

#include <hip/hip_runtime.h>

#include <type_traits>

#include "opcast/kernel.h"
#include "opcast/start_hip.h"
#include "opcast/types.h"

#if !defined(OPCAST_ROCM_WARP)
#error "define OPCAST_ROCM_WARP as the threads of a wavefront, 32 or 64, of all that is compiled"
#endif

namespace opcast::device {

// The host computes grids with it, so it is one number for all architectures of a library.
constexpr int kWarp = OPCAST_ROCM_WARP;
#if defined(__AMDGCN_WAVEFRONT_SIZE__) && defined(__HIP_DEVICE_COMPILE__)
static_assert(kWarp == __AMDGCN_WAVEFRONT_SIZE__);
#endif
constexpr size_t kMostShared = 64 << 10;

template <class... Parameters>
Status Start(const StartOptions& options, void (*kernel)(Parameters...), dim3 grid, dim3 block,
             size_t shared, const Launch& launch, Parameters... values) {
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&values))...};
  return StartKernel(options, reinterpret_cast<const void*>(kernel), grid, block, arguments, shared,
                     launch.stream);
}

__device__ __forceinline__ int WarpLane() {
  return static_cast<int>(threadIdx.x) % kWarp;  // as Lane(): blocks of one dimension
}

// What another lane holds, in pieces of 4 bytes.
template <class T>
__device__ __forceinline__ T Shuffle(T value, int from) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  int pieces[sizeof(T) / 4];
  __builtin_memcpy(pieces, &value, sizeof value);
  for (int& piece : pieces) piece = __builtin_amdgcn_ds_bpermute(4 * from, piece);
  __builtin_memcpy(&value, pieces, sizeof value);
  return value;
}

template <class T>
__device__ __forceinline__ T ShuffleXor(T value, int mask, int width) {
  const int lane = static_cast<int>(__lane_id()), from = lane ^ mask;
  return Shuffle(value, from / width <= lane / width ? from : lane);
}
__device__ __forceinline__ bool WarpAny(bool yes) { return __any(yes) != 0; }

// The lanes of a wavefront are never apart; the compiler must not move reads and writes, either.
__device__ __forceinline__ void SyncWarp() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

__device__ __forceinline__ void WaitForEarlier() {}  // it has ended

template <class T>
__device__ __forceinline__ void Narrow(float first, float second, T* to) {
  to[0] = static_cast<T>(first);
  to[1] = static_cast<T>(second);
}

__device__ __forceinline__ float FastExp2(float x) { return __builtin_exp2f(x); }
__device__ __forceinline__ float FastInverse(float x) { return __builtin_amdgcn_rcpf(x); }
__device__ __forceinline__ float MaxOrNan(float a, float b) { return a != a || a > b ? a : b; }

__device__ __forceinline__ void* DynamicShared() {
  extern __shared__ __attribute__((aligned(128))) unsigned char opcast_dynamic_shared[];
  return opcast_dynamic_shared;
}

// There is no copy beside the registers: the thread waits where it writes.
__device__ __forceinline__ void CopyAsync(void* shared, const void* global) {
  *static_cast<uint4*>(shared) = *static_cast<const uint4*>(global);
}
__device__ __forceinline__ void CommitCopies() {}
template <int kPending>
__device__ __forceinline__ void WaitCopies() {}

}  // namespace opcast::device

#include "opcast/wmma_hip.h"
