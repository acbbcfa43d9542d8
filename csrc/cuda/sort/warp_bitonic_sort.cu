// y = the numbers of each row of x in order, dense rows of any length. Exact: what moves are keys,
// see common/sort_key.h.
//
// Rows of up to 64 numbers lie in the registers of a warp, or of part of one. Other rows have a
// block each, and lie in shared memory, or in y if they do not fit.
//
// Registers: at most 40.
// sass: allows call in BlockKernel: indices beyond 32 bits
// sass: allows generic in BlockKernel: numbers are in shared memory, or in y
#include "common/sort_key.h"
#include "cuda/sort/bitonic_sort.h"
#include "warp_bitonic_sort.gen.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 256, kBlockThreads = 1024;
constexpr int kOwn = 2;  // numbers of a thread, if a row has more than a warp has threads
constexpr int64_t kShared = 12288;  // numbers in shared memory
constexpr int32_t kLast = 0x7fffffff;

struct Rows {
  const float* x;
  float* y;
  int64_t count, n;
  int32_t flip;
};

// The lanes of a warp sort `width` times kCount keys: the k-th of a lane has place k * width +
// lane.
template <int kCount>
OPCAST_DEVICE void WarpSort(int width, int32_t (&keys)[kCount]) {
  const int lane = threadIdx.x % width;
  OPCAST_NO_UNROLL
  for (int size = 2; size <= width * kCount; size *= 2) {
    OPCAST_NO_UNROLL
    for (int step = size / 2; step > 0; step /= 2) {
      const int mask = step == size / 2 ? size - 1 : step;
      int32_t others[kCount];
      OPCAST_UNROLL
      for (int k = 0; k < kCount; ++k) {
        const int32_t give = mask < width ? keys[k] : keys[kCount - 1 - k];
        others[k] = opcast::ShuffleXor(give, mask % width, width);
      }
      OPCAST_UNROLL
      for (int k = 0; k < kCount; ++k) {
        const bool lower = ((k * width + lane) & step) == 0, less = keys[k] < others[k];
        keys[k] = lower == less ? keys[k] : others[k];
      }
    }
  }
}

// A row for each `width` threads.
template <int kCount>
__global__ void __launch_bounds__(kThreads) WarpKernel(Rows rows, int width) {
  const int64_t together = kThreads / width, lane = threadIdx.x % width;
  const int64_t tiles = (rows.count + together - 1) / together;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t row = tile * together + threadIdx.x / width, at = row * rows.n;
    int32_t keys[kCount];
    OPCAST_UNROLL
    for (int k = 0; k < kCount; ++k) {
      const int64_t place = k * width + lane;
      const bool there = row < rows.count && place < rows.n;
      keys[k] = there ? SortKey(rows.x[at + place]) ^ rows.flip : kLast;
    }
    WarpSort(width, keys);
    OPCAST_UNROLL
    for (int k = 0; k < kCount; ++k) {
      const int64_t place = k * width + lane;
      if (row < rows.count && place < rows.n) rows.y[at + place] = OfSortKey(keys[k] ^ rows.flip);
    }
  }
}

// A row for each block.
__global__ void __launch_bounds__(kBlockThreads) BlockKernel(Rows rows) {
  for (int64_t row = blockIdx.x; row < rows.count; row += gridDim.x) {
    const float* const x = rows.x + row * rows.n;
    float* const y = rows.y + row * rows.n;
    float* const sorted = rows.n <= kShared ? opcast::DynamicShared<float>() : y;
    OPCAST_NO_UNROLL
    for (int64_t i = threadIdx.x; i < rows.n; i += kBlockThreads) sorted[i] = x[i];
    __syncthreads();
    BlockSort(rows.n, [&](int64_t i, int64_t j) {
      const float a = sorted[i], b = sorted[j];
      if ((SortKey(b) ^ rows.flip) >= (SortKey(a) ^ rows.flip)) return;
      sorted[i] = b;
      sorted[j] = a;
    });
    OPCAST_NO_UNROLL
    for (int64_t i = threadIdx.x; i < rows.n; i += kBlockThreads)
      y[i] = OfSortKey(SortKey(sorted[i]));  // one NaN
    __syncthreads();
  }
}

}  // namespace

opcast::Status WarpBitonicSortCuda(const WarpBitonicSortArgs& args, const opcast::Launch& launch) {
  const Rows rows{args.x, args.y, args.batch, args.L, SortFlip(args.is_descending)};
  if (args.L == 0) return opcast::Status::Ok();
  if (args.L > opcast::kWarp * kOwn) {
    const int64_t bytes = args.L <= kShared ? args.L * static_cast<int64_t>(sizeof(float)) : 0;
    return opcast::Start(BlockKernel, opcast::Blocks(args.batch), kBlockThreads,
                         static_cast<size_t>(bytes), launch, rows);
  }
  const int own = args.L > opcast::kWarp ? kOwn : 1;
  const int width = static_cast<int>(RoundUpToPower(args.L)) / own, together = kThreads / width;
  const unsigned blocks = opcast::Blocks((args.batch + together - 1) / together);
  return opcast::Start(own == 1 ? WarpKernel<1> : WarpKernel<kOwn>, blocks, kThreads, 0, launch,
                       rows, width);
}

}  // namespace opcast_ops
