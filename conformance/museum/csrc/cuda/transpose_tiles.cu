#include <algorithm>

#include "../bug.h"
#include "block.h"
#include "transpose_tiles.gen.h"

namespace museum_ops {
namespace {

constexpr int kTile = 32, kRows = 8;  // a block has threads for so many rows of a tile at most

// A block transposes one tile after the other.
template <class T>
__global__ void __launch_bounds__(kTile* kRows)
    TransposeKernel(T* y, const T* x, int64_t m, int64_t n, bool reads_beyond) {
  __shared__ T tile[kTile][kTile + 1];
  const int64_t across = (n + kTile - 1) / kTile, down = (m + kTile - 1) / kTile;
  for (int64_t t = blockIdx.x; t < across * down; t += gridDim.x) {
    const int64_t top = t / across * kTile, left = t % across * kTile;
    for (unsigned r = threadIdx.y; r < kTile; r += blockDim.y) {
      const bool there = top + r < m && left + threadIdx.x < n;
      if (there || reads_beyond) tile[r][threadIdx.x] = x[(top + r) * n + left + threadIdx.x];
    }
    __syncthreads();
    for (unsigned r = threadIdx.y; r < kTile; r += blockDim.y) {
      if (left + r < n && top + threadIdx.x < m)
        y[(left + r) * m + top + threadIdx.x] = tile[threadIdx.x][r];
    }
    __syncthreads();
  }
}

}  // namespace

opcast::Status TransposeTiles(const TransposeTilesArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t tiles = ((a.M + kTile - 1) / kTile) * ((a.N + kTile - 1) / kTile);
    const int64_t least = BUG("microsoft/onnxruntime#7329",
                              "A small matrix got blocks without threads, which cannot be started.")
                              ? 0
                              : 1;
    const dim3 block(kTile, static_cast<unsigned>(std::clamp<int64_t>(a.M / 4, least, kRows)), 1);
    const bool reads_beyond =
        BUG("microsoft/onnxruntime#5294",
            "Tiles at the edge were read as far as they reached beyond the matrix.");
    return opcast::Start(TransposeKernel<T>, opcast::Blocks(tiles), block, 0, launch, a.y, a.x, a.M,
                         a.N, reads_beyond);
  });
}

}  // namespace museum_ops
