// c = activation(alpha * a @ b.T + bias) for 16-bit a and b, on tensor cores: a block computes 128
// by 128 elements, each of its 8 warps 64 by 32. Products are summed in float by the hardware,
// whose order depends on K only; the rest is computed in double and rounded once.
//
// Registers: at most 152.
#include <type_traits>

#include "gemm.gen.h"
#include "gemm_finish.h"
#include "gemm_parts.h"

namespace opcast_ops {
namespace {

namespace wmma = opcast::wmma;

constexpr int kTile = 128;        // rows and columns of a block
constexpr int kStep = 32;         // terms in shared memory at a time, twice: next ones arrive
constexpr int kLine = kStep + 8;  // where a row's successor begins, for different banks
constexpr int kThreads = 256;
constexpr int kVector = 8;             // numbers in 16 bytes
constexpr int kPart = 16;              // rows and columns of a fragment
constexpr int kDown = 4, kAcross = 2;  // fragments of a warp
constexpr int kSumLine = kPart + 4;

// Terms of both factors in shared memory.
template <class T>
struct Stage {
  T a[kTile * kLine], b[kTile * kLine];
};

template <class T>
using Left = wmma::fragment<wmma::matrix_a, kPart, kPart, kPart, T, wmma::row_major>;
template <class T>
using Right = wmma::fragment<wmma::matrix_b, kPart, kPart, kPart, T, wmma::col_major>;
using Sums = wmma::fragment<wmma::accumulator, kPart, kPart, kPart, float>;

// Begins to copy terms k to k + kStep of the tile's rows; zeros stand for what is not there.
template <class T, class Factor>
OPCAST_DEVICE void Fetch(const Factor& factor, int64_t first, int64_t k, int64_t depth, T* to) {
  constexpr int kPerRow = kStep / kVector;
  for (int n = threadIdx.x; n < kTile * kPerRow; n += kThreads) {
    const int row = n / kPerRow, column = n % kPerRow * kVector;
    T* place = to + row * kLine + column;
    const T* from = factor.At(0, first + row);
    if (from != nullptr && k + column < depth) {
      opcast::CopyAsync(place, from + k + column);
    } else {
      for (int i = 0; i < kVector; ++i) place[i] = static_cast<T>(0.0f);
    }
  }
}

// Adds a stage's products to the warp's sums.
template <class T>
OPCAST_DEVICE void AddStage(const Stage<T>& stage, int row, int column,
                            Sums (&sums)[kDown][kAcross]) {
  OPCAST_UNROLL
  for (int k = 0; k < kStep; k += kPart) {
    Right<T> right[kAcross];
    OPCAST_UNROLL
    for (int n = 0; n < kAcross; ++n)
      wmma::load_matrix_sync(right[n], stage.b + (column + n * kPart) * kLine + k, kLine);
    OPCAST_UNROLL
    for (int m = 0; m < kDown; ++m) {
      Left<T> left;
      wmma::load_matrix_sync(left, stage.a + (row + m * kPart) * kLine + k, kLine);
      OPCAST_UNROLL
      for (int n = 0; n < kAcross; ++n) wmma::mma_sync(sums[m][n], left, right[n], sums[m][n]);
    }
  }
}

// The sums of a warp's rows and columns of the tile at i, j.
template <class T, class A, class B>
OPCAST_DEVICE void SumTile(const A& a, const B& b, int64_t i, int64_t j, int64_t depth, int row,
                           int column, Stage<T>* stages, Sums (&sums)[kDown][kAcross]) {
  if (depth == 0) return;
  Fetch(a, i, 0, depth, stages[0].a);
  Fetch(b, j, 0, depth, stages[0].b);
  opcast::CommitCopies();
  int at = 0;
  for (int64_t k = 0; k < depth; k += kStep, at ^= 1) {
    if (k + kStep < depth) {
      Fetch(a, i, k + kStep, depth, stages[at ^ 1].a);
      Fetch(b, j, k + kStep, depth, stages[at ^ 1].b);
    }
    opcast::CommitCopies();
    opcast::WaitCopies<1>();
    __syncthreads();
    AddStage(stages[at], row, column, sums);
    __syncthreads();
  }
}

template <class T, class O, class A, class B>
__global__ void __launch_bounds__(kThreads, 1)
    TensorKernel(A a, B b, GemmFinish<T, O> out, int64_t depth) {
  Stage<T>* const stages = opcast::DynamicShared<Stage<T>>();
  const int warp = threadIdx.x / opcast::kWarp;
  const int row = warp % 2 * kDown * kPart, column = warp / 2 * kAcross * kPart;
  const int64_t across = (b.rows + kTile - 1) / kTile;
  const int64_t tiles = (a.rows + kTile - 1) / kTile * across;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t i = tile / across * kTile, j = tile % across * kTile;
    Sums sums[kDown][kAcross];
    OPCAST_UNROLL
    for (int m = 0; m < kDown; ++m) {
      OPCAST_UNROLL
      for (int n = 0; n < kAcross; ++n) wmma::fill_fragment(sums[m][n], 0.0f);
    }
    SumTile(a, b, i, j, depth, row, column, stages, sums);
    const int lane = opcast::Lane();
    float* const space = opcast::DynamicShared<float>() + warp * kPart * kSumLine;
    OPCAST_UNROLL
    for (int m = 0; m < kDown; ++m) {
      OPCAST_UNROLL
      for (int n = 0; n < kAcross; ++n) {
        wmma::store_matrix_sync(space, sums[m][n], kSumLine, wmma::mem_row_major);
        opcast::SyncWarp();
        for (int e = lane; e < kPart * kPart; e += opcast::kWarp) {
          const int64_t to_row = i + row + m * kPart + e / kPart;
          const int64_t to_column = j + column + n * kPart + e % kPart;
          if (to_row < a.rows && to_column < b.rows)
            out(0, to_row, to_column, space[e / kPart * kSumLine + e % kPart]);
        }
        opcast::SyncWarp();
      }
    }
    __syncthreads();  // the next tile's terms overwrite the sums
  }
}

}  // namespace

const char* GemmF16TcSupported(const GemmArgs& args, const opcast::Launch&) {
  const bool even = RowsOf(args.a_layout).DivisibleBy(kVector) &&
                    (args.N == 1 || args.b_layout.Stride(-2) % kVector == 0);
  return even ? nullptr : "needs rows of a and b that begin at multiples of 16 bytes";
}

opcast::Status GemmF16Tc(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using O = typename std::decay_t<decltype(a)>::O;
    if constexpr (std::is_same_v<T, float>) {
      return opcast::Status::Error("float32 on tensor cores");  // the definition rules it out
    } else {
      const auto left = LeftOf(a);
      const auto right = RightOf(a);
      using Left = std::decay_t<decltype(left)>;
      using Right = std::decay_t<decltype(right)>;
      const int64_t tiles = (left.rows + kTile - 1) / kTile * ((right.rows + kTile - 1) / kTile);
      return opcast::Start(TensorKernel<T, O, Left, Right>, opcast::Blocks(tiles), kThreads,
                           2 * sizeof(Stage<T>), launch, left, right, GemmFinish(a), a.K);
    }
  });
}

}  // namespace opcast_ops
