// What the source of a GPU kernel includes besides the generated header of its op.
//
// How to write a .cu kernel here
//
// - Write `opcast::Status NameCuda(const NameArgs&, const opcast::Launch&)` in csrc/cuda/; the
//   function is called like the kernel, rms_norm_cuda being RmsNormCuda. It computes a grid and
//   calls opcast::Start. It allocates nothing, waits for nothing and uses no stream but the
//   launch's, so that CUDA graphs can capture it.
// - Kernels are `__global__` functions on raw pointers. They use __device__, __shared__,
//   threadIdx, blockIdx, blockDim, gridDim, __syncthreads(), __launch_bounds__ as usual, and
//   everything else through this file: Start, not <<<>>>; ShuffleXor, not __shfl_xor_sync; wmma
//   from opcast::wmma; DynamicShared, not `extern __shared__`. So the same source compiles with
//   nvcc, with hipcc, and with g++ for the emulator in backend/emulator, as
//   `opcast build --device emulated` does.
// - Numbers are float, double, opcast::f16 and opcast::bf16; convert by static_cast to and from
//   float. Functions are those of <cmath> for float (fmaf, sqrtf, fabsf, ...). Results of 16 bits
//   may use the GPU's own approximations, FastExp2 and FastInverse.
// - Sources are compiled with -fmad=false, or -ffp-contract=off for HIP: the compiler contracts
//   nothing. Write fmaf where you want it. So a kernel that uses only + - * / fmaf sqrtf and
//   conversions gives the same bits on the emulator. This helps to find errors; it is no promise.
// - Each kernel has __launch_bounds__: no GPU starts it with more threads, nor does the emulator.
// - All threads of a block reach each __syncthreads(), all lanes of a warp each shuffle. The
//   emulator ends the program where that is not so.
// - Only grid.x is large (2^31 - 1). Loop over tiles: `for (int64_t tile = blockIdx.x; tile <
//   tiles; tile += gridDim.x)` with Blocks(tiles) as the grid, and any size works. Sizes and
//   offsets are int64_t.
// - Layouts point to memory of the CPU: pass BatchOffsets(args.x_layout) and strides by value.
// - Bits may depend on the shape, the values and the kernel, not on the grid, on addresses or on
//   neighbouring rows. Reduce in a fixed order: no atomics on floats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "opcast/device_layout.h"
#include "opcast/kernel.h"
#include "opcast/start.h"

#if defined(OPCAST_EMULATOR)
#include "emulator.h"
#elif defined(__CUDACC__)
#include "opcast/device_cuda.h"
#elif defined(__HIPCC__)
#include "opcast/device_hip.h"
#else
#error "a GPU kernel is compiled by nvcc or hipcc, or with OPCAST_EMULATOR for the emulator"
#endif

// A function that kernels call.
#define OPCAST_DEVICE __device__ __forceinline__

// Before a loop with constant bounds whose index chooses among registers, and before one whose body
// shall be there only once.
#if defined(OPCAST_EMULATOR)
#define OPCAST_UNROLL
#define OPCAST_NO_UNROLL
#else
#define OPCAST_UNROLL _Pragma("unroll")
#define OPCAST_NO_UNROLL _Pragma("unroll 1")
#endif

#include "opcast/device_fp8.h"

namespace opcast {

// Blocks to start for a number of tiles over which a kernel loops. Far more than a GPU runs at
// once, so that only enormous grids loop at all.
inline unsigned Blocks(int64_t tiles) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return static_cast<unsigned>(tiles < kMost ? tiles : kMost);
}

// The same with options, which not every GPU knows.
//
//   opcast::StartOptions options;
//   options.cluster = 2;
//   return opcast::Start(options, PairsKernel, 2 * Blocks(tiles), 256, 0, launch, c, a, n);
template <class... Parameters, class... Values>
Status Start(const StartOptions& options, void (*kernel)(Parameters...), dim3 grid, dim3 block,
             size_t shared, const Launch& launch, const Values&... values) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return Status::Ok();
  return device::Start(options, kernel, grid, block, shared, launch,
                       static_cast<Parameters>(values)...);
}

// Starts a kernel on the launch's stream, on the current device. A grid without blocks starts
// nothing. `shared` is the size in bytes of what DynamicShared gives.
//
//   return opcast::Start(AddKernel<T>, Blocks(tiles), 256, 0, launch, c, a, b, n);
template <class... Parameters, class... Values>
Status Start(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared,
             const Launch& launch, const Values&... values) {
  return Start(StartOptions{}, kernel, grid, block, shared, launch, values...);
}

// The number of threads that run together, 32 or 64 (on AMD's gfx9); a block's threads are cut into
// warps in order.
constexpr int kWarp = device::kWarp;

// Bytes of shared memory that a block can have on each GPU for which there is code.
constexpr size_t kMostShared = device::kMostShared;

// The lane of the calling thread, in blocks of one dimension.
OPCAST_DEVICE int Lane() { return static_cast<int>(threadIdx.x) % kWarp; }

// The value of another lane. All lanes of the warp call it. T has 4 or 8 bytes; a type of several
// numbers may have a function of this name in its own namespace. `width` is a power
// of two: lanes exchange within groups of that many.
template <class T>
OPCAST_DEVICE T ShuffleXor(T value, int mask, int width = kWarp) {
  return device::ShuffleXor(value, mask, width);
}

// Whether any lane of the warp says yes. All lanes call it.
OPCAST_DEVICE bool WarpAny(bool yes) { return device::WarpAny(yes); }

// Waits for the other lanes; what each wrote to memory before is seen by all.
OPCAST_DEVICE void SyncWarp() { device::SyncWarp(); }

// In a kernel that was started with StartOptions::overlaps, waits until all that comes before it on
// the stream has ended and can be read.
OPCAST_DEVICE void WaitForEarlier() { device::WaitForEarlier(); }

// Combines the values of `width` neighbouring lanes, lane l with lane l ^ width / 2 first; each
// gets the result, with the same bits if op is commutative.
template <class T, class Op>
OPCAST_DEVICE T WarpReduce(T value, Op op, int width = kWarp) {
  for (int mask = width / 2; mask > 0; mask /= 2) value = op(value, ShuffleXor(value, mask, width));
  return value;
}

// Rounds two floats to neighbouring elements, which is one instruction for types of 16 bits.
template <class T>
OPCAST_DEVICE void Narrow(float first, float second, T* to) {
  device::Narrow(first, second, to);
}

// 2^x and 1 / x by one instruction, with a relative error of at most 2^-22. Denormal arguments and
// results count as 0; NaN stays. The last bits depend on the kind of GPU.
OPCAST_DEVICE float FastExp2(float x) { return device::FastExp2(x); }
OPCAST_DEVICE float FastInverse(float x) { return device::FastInverse(x); }

// The larger number, or NaN if one is NaN.
OPCAST_DEVICE float MaxOrNan(float a, float b) { return device::MaxOrNan(a, b); }

// The shared memory whose size was given to Start; aligned to 128 bytes.
template <class T>
OPCAST_DEVICE T* DynamicShared() {
  return static_cast<T*>(device::DynamicShared());
}

// Copies 16 bytes from global to shared memory while the thread goes on; both are aligned to 16.
// WaitCopies<n>() waits until at most the last n committed groups are unfinished: of this thread;
// __syncthreads() must follow before others read.
OPCAST_DEVICE void CopyAsync(void* shared, const void* global) {
  device::CopyAsync(shared, global);
}
OPCAST_DEVICE void CommitCopies() { device::CommitCopies(); }
template <int kPending>
OPCAST_DEVICE void WaitCopies() {
  device::WaitCopies<kPending>();
}

// Warp-wide matrix products as in CUDA: fragment, fill_fragment, load_matrix_sync, mma_sync,
// store_matrix_sync. Guard kernels that use it by `arch` in the definition. Factors of 16 bits,
// which are summed in float, load fast from shared memory. Beyond CUDA's names, such a fragment of
// sums says where its elements are: sums.ForEach(f) calls f(element, row, column) for those of the
// lane.
namespace wmma = device::wmma;

}  // namespace opcast
