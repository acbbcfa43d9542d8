// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows. Products are summed in
// float, in passes over the depth (see gemm_tile.h); the rest is computed in double and rounded
// once. Bits depend on the values and K only.
#include <type_traits>

#include "gemm.gen.h"
#include "gemm_tile.h"
#include "rows.h"
#include "scalar.h"

namespace ops {
namespace {

using opcast::bf16;
using opcast::DType;
using opcast::f16;

constexpr int64_t kBlock = 64;  // rows and columns of c that one task computes
constexpr int64_t kDepth =
    256;  // products summed in one pass: such a part of both inputs' blocks fits into the L2 cache

constexpr int64_t kProductsPerChunk = 1 << 19;  // some 10 microseconds of work

template <class T>
FloatRows Widen(const T* from, int64_t stride, int64_t rows, int64_t depth, float* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < depth; ++k)
      to[i * kDepth + k] = static_cast<float>(from[i * stride + k]);
  }
  return {to, kDepth};
}

// Rows as floats: themselves, or a copy in `space`.
inline FloatRows Load(DType type, const void* data, int64_t offset, int64_t stride, int64_t rows,
                      int64_t depth, float* space) {
  if (type == DType::kF32) return {static_cast<const float*>(data) + offset, stride};
  if (type == DType::kF16)
    return Widen(static_cast<const f16*>(data) + offset, stride, rows, depth, space);
  return Widen(static_cast<const bf16*>(data) + offset, stride, rows, depth, space);
}

template <class T>
void Narrow(const double* from, int64_t n, T* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = Round<T>(from[i]);
}

inline void Store(DType type, const double* values, int64_t n, void* data, int64_t offset) {
  if (type == DType::kF32) return Narrow(values, n, static_cast<float*>(data) + offset);
  if (type == DType::kF16) return Narrow(values, n, static_cast<f16*>(data) + offset);
  return Narrow(values, n, static_cast<bf16*>(data) + offset);
}

inline void Activate(GemmActivation activation, double* values, int64_t n) {
  if (activation == GemmActivation::kRelu) {
    for (int64_t i = 0; i < n; ++i) values[i] = values[i] < 0 ? 0 : values[i];
  } else if (activation == GemmActivation::kSilu) {
    for (int64_t i = 0; i < n; ++i) values[i] = Silu(values[i]);
  }
}

// A block of c: rows i to i + rows of one matrix of the batch, columns j to j + columns.
struct Block {
  int64_t batch, i, rows, j, columns;

  Block(const GemmArgs& args, int64_t index) {
    const int64_t across = (args.N + kBlock - 1) / kBlock, down = (args.M + kBlock - 1) / kBlock;
    j = index % across * kBlock;
    i = index / across % down * kBlock;
    batch = index / across / down;
    rows = std::min(kBlock, args.M - i);
    columns = std::min(kBlock, args.N - j);
  }
};

// sums[i][j] = row i of the block's a times row j of its b.
template <int kWidth>
inline void Multiply(const GemmArgs& args, const Block& block, float (*sums)[kBlock]) {
  using Shape = TileShape<kWidth>;
  float a_space[kBlock * kDepth], b_space[kBlock * kDepth];
  const int64_t a_stride = args.a_layout.Stride(-2), b_stride = args.b_layout.Stride(-2);
  const int64_t a_offset = args.a_layout.Batch(block.batch) + block.i * a_stride,
                b_offset = block.j * b_stride;
  for (int64_t k = 0; k < args.K; k += kDepth) {
    const int64_t depth = std::min(kDepth, args.K - k);
    const FloatRows a = Load(args.T, args.a, a_offset + k, a_stride, block.rows, depth, a_space);
    const FloatRows b = Load(args.T, args.b, b_offset + k, b_stride, block.columns, depth, b_space);
    for (int64_t j = 0; j < block.columns; j += Shape::kN) {
      for (int64_t i = 0; i < block.rows; i += Shape::kM) {
        AddTile<kWidth>({a.data + i * a.stride, a.stride}, block.rows - i,
                        {b.data + j * b.stride, b.stride}, block.columns - j, depth, &sums[i][j],
                        kBlock);
      }
    }
  }
}

// Writes the block: alpha, bias, activation, rounding.
inline void Finish(const GemmArgs& args, const Block& block, const float (*sums)[kBlock]) {
  float space[kDepth] = {};
  const float* bias = space;  // an absent bias is zero
  if (args.bias != nullptr)
    bias = Load(args.T, args.bias, block.j, 0, 1, block.columns, space).data;
  for (int64_t i = 0; i < block.rows; ++i) {
    double values[kBlock];
    for (int64_t j = 0; j < block.columns; ++j) values[j] = args.alpha * sums[i][j] + bias[j];
    Activate(args.activation, values, block.columns);
    const int64_t row = block.batch * args.M + block.i + i;
    Store(args.O, values, block.columns, args.c, row * args.N + block.j);
  }
}

// The dtypes that Load and Store know.
template <class T>
constexpr bool kKnown =
    std::is_same_v<T, float> || std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

}  // namespace

opcast::Status Gemm(const GemmArgs& args, const opcast::Launch& launch) {
  const opcast::Status declared = Visit(args, [](auto types) {
    static_assert(kKnown<typename decltype(types)::T> && kKnown<typename decltype(types)::O>);
    return opcast::Status::Ok();
  });
  if (!declared.ok()) return declared;
  const int64_t blocks =
      args.batch * ((args.M + kBlock - 1) / kBlock) * ((args.N + kBlock - 1) / kBlock);
  const int64_t products =
      std::min(kBlock, args.M) * std::min(kBlock, args.N) * std::max<int64_t>(1, args.K);
  const int64_t grain = std::max<int64_t>(1, kProductsPerChunk / products);
  opcast::ParallelFor(launch, blocks, grain, [&args](int64_t begin, int64_t end, auto width) {
    for (int64_t index = begin; index < end; ++index) {
      const Block block(args, index);
      float sums[kBlock][kBlock] = {};
      Multiply<width>(args, block, sums);
      Finish(args, block, sums);
    }
  });
  return declared;
}

}  // namespace ops
