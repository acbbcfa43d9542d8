// device.h for nvcc. Only what is named here differs between compilers.
#pragma once

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "opcast/kernel.h"
#include "opcast/start_cuda.h"
#include "opcast/types.h"
#include "opcast/wmma_cuda.h"

namespace opcast::device {

constexpr int kWarp = 32;
constexpr size_t kMostShared = 99 << 10;  // sm_86 has the least
constexpr unsigned kAllLanes = 0xffffffff;

template <class T>
__device__ __forceinline__ T ShuffleXor(T value, int mask, int width) {
  return __shfl_xor_sync(kAllLanes, value, mask, width);
}
__device__ __forceinline__ bool WarpAny(bool yes) { return __any_sync(kAllLanes, yes); }
__device__ __forceinline__ void SyncWarp() { __syncwarp(); }

__device__ __forceinline__ void WaitForEarlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

__device__ __forceinline__ void Narrow(float first, float second, float* to) {
  to[0] = first;
  to[1] = second;
}
__device__ __forceinline__ void Narrow(float first, float second, f16* to) {
  const __half2 both = __floats2half2_rn(first, second);
  to[0] = both.x;
  to[1] = both.y;
}
__device__ __forceinline__ void Narrow(float first, float second, bf16* to) {
  const __nv_bfloat162 both = __floats2bfloat162_rn(first, second);
  to[0] = both.x;
  to[1] = both.y;
}

__device__ __forceinline__ float FastExp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float FastInverse(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float MaxOrNan(float a, float b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a != a || a > b ? a : b;
#endif
}

__device__ __forceinline__ void* DynamicShared() {
  extern __shared__ __align__(128) unsigned char opcast_dynamic_shared[];
  return opcast_dynamic_shared;
}

__device__ __forceinline__ void CopyAsync(void* shared, const void* global) {
  __pipeline_memcpy_async(shared, global, 16);
}
__device__ __forceinline__ void CommitCopies() { __pipeline_commit(); }
template <int kPending>
__device__ __forceinline__ void WaitCopies() {
  __pipeline_wait_prior(kPending);
}

}  // namespace opcast::device
