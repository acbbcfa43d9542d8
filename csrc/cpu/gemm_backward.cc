// grad_a = alpha * G @ b, grad_b = alpha * G.T @ a, grad_bias = the sum of G's rows, where G is
// grad_c times the slope of the activation at alpha * a @ b.T + bias.
//
// Without an activation G is grad_c itself; otherwise the product is computed again as gemm does,
// and G is rounded to float, for some rows at a time. Products are summed in float, in passes over
// the depth (see gemm_tile.h), grad_bias and the rest in double, and rounded once. Bits depend on
// the values and on the lengths of the sums only.
#include <memory>

#include "gemm_backward.gen.h"
#include "gemm_block.h"

namespace opcast_ops {
namespace {

using opcast::DType;
using Args = GemmBackwardArgs;

// Rows first to last of G, counted through all matrices of the batch.
struct Slab {
  DType type;
  const void* data;
  int64_t first, last, columns;

  int64_t Rows() const { return last - first; }

  // Element offset of a row's column.
  int64_t Offset(int64_t row, int64_t column) const { return (row - first) * columns + column; }
};

// Rows of a slab that is computed: some MiB of floats, and whole passes over the rows, so that no
// sum depends on where slabs begin.
inline int64_t SlabRows(int64_t columns) {
  constexpr int64_t kElements = 1 << 20;
  return std::max<int64_t>(1, kElements / std::max<int64_t>(1, columns) / kDepth) * kDepth;
}

// Writes a block of G: grad_c times the slope at the products.
template <int kWidth>
inline void WriteSlopes(const Args& args, const Block& block, const float (*sums)[kBlock],
                        const Slab& slab, float* data) {
  float space[kDepth] = {}, grad_space[kDepth];
  const float* bias = LoadBias(args, block, space);
  for (int64_t i = block.i; i < block.i + block.rows; ++i) {
    double values[kBlock];
    Combine(args, block, sums[i - block.i], bias, values);
    const float* grad =
        Load(args.O, args.grad_c, i * args.N + block.j, 0, 1, block.columns, grad_space).data;
    float* to = data + slab.Offset(i, block.j);
    if (args.activation == GemmBackwardActivation::kRelu) {
      for (int64_t j = 0; j < block.columns; ++j) to[j] = Select(values[j] <= 0, 0.0f, grad[j]);
    } else {
      for (int64_t j = 0; j < block.columns; ++j)
        to[j] = static_cast<float>(grad[j] * SiluSlope(values[j], Sigmoid<kWidth>(values[j])));
    }
  }
}

// Fills a slab of G.
void FillSlab(const Args& args, const opcast::Launch& launch, const Slab& slab, float* data) {
  const int64_t across = Blocks(args.N), skipped = slab.first / kBlock * across;
  opcast::ParallelFor(launch, Blocks(slab.Rows()) * across,
                      BlocksPerChunk(slab.Rows(), args.N, args.K),
                      [&](int64_t begin, int64_t end, auto width) {
                        for (int64_t index = begin; index < end; ++index) {
                          const Block block(skipped + index, args.batch * args.M, args.N);
                          float sums[kBlock][kBlock] = {};
                          Multiply<width>(args, block, sums);
                          WriteSlopes<width>(args, block, sums, slab, data);
                        }
                      });
}

// Writes alpha times the sums to a dense matrix of K columns.
inline void Finish(const Args& args, const Block& block, const float (*sums)[kBlock], void* to) {
  for (int64_t i = 0; i < block.rows; ++i) {
    double values[kBlock];
    for (int64_t j = 0; j < block.columns; ++j) values[j] = args.alpha * sums[i][j];
    Store(args.T, values, block.columns, to, (block.i + i) * args.K + block.j);
  }
}

// The slab's rows of grad_a = alpha * G @ b.
void GradA(const Args& args, const opcast::Launch& launch, const Slab& slab) {
  const int64_t across = Blocks(args.K), skipped = slab.first / kBlock * across;
  const int64_t b_stride = args.b_layout.Stride(-2);
  opcast::ParallelFor(
      launch, Blocks(slab.Rows()) * across, BlocksPerChunk(slab.Rows(), args.K, args.N),
      [&](int64_t begin, int64_t end, auto width) {
        for (int64_t index = begin; index < end; ++index) {
          const Block block(skipped + index, args.batch * args.M, args.K);
          float space[kBlock * kDepth], b[kDepth * kBlock], sums[kBlock][kBlock] = {};
          for (int64_t n = 0; n < args.N; n += kDepth) {
            const int64_t depth = std::min(kDepth, args.N - n);
            const FloatRows g = Load(slab.type, slab.data, slab.Offset(block.i, n), slab.columns,
                                     block.rows, depth, space);
            Copy(args.T, args.b, n * b_stride + block.j, b_stride, depth, block.columns, b, kBlock);
            ClearRest(b, depth, block.columns);
            AddOuter<width>({g.data, g.stride, 1}, b, block.rows, block.columns, depth, sums);
          }
          Finish(args, block, sums, args.grad_a);
        }
      });
}

// Adds the slab's part of a block of G.T @ a to sums.
template <int kWidth>
inline void AddPart(const Args& args, const Slab& slab, const Block& block, float (*sums)[kBlock]) {
  const BatchRows a_rows{args.T, args.a, args.a_layout, args.M};
  float g[kDepth * kBlock], a[kDepth * kBlock];
  for (int64_t m = slab.first; m < slab.last; m += kDepth) {
    const int64_t depth = std::min(kDepth, slab.last - m);
    Copy(slab.type, slab.data, slab.Offset(m, block.i), slab.columns, depth, block.rows, g, kBlock);
    a_rows.Copy(m, depth, block.j, block.columns, a, kBlock);
    ClearRest(a, depth, block.columns);
    AddOuter<kWidth>({g, 1, kBlock}, a, block.rows, block.columns, depth, sums);
  }
}

// Adds the slab's part of grad_b = alpha * G.T @ a to totals; the last slab's writes the result.
void GradB(const Args& args, const opcast::Launch& launch, const Slab& slab, float* totals) {
  opcast::ParallelFor(launch, Blocks(args.N) * Blocks(args.K),
                      BlocksPerChunk(args.N, args.K, slab.Rows()),
                      [&](int64_t begin, int64_t end, auto width) {
                        for (int64_t index = begin; index < end; ++index) {
                          const Block block(index, args.N, args.K);
                          const int64_t at = block.i * args.K + block.j;
                          float sums[kBlock][kBlock] = {};
                          if (slab.first > 0)
                            Widen(totals + at, args.K, block.rows, block.columns, sums[0], kBlock);
                          AddPart<width>(args, slab, block, sums);
                          if (slab.last == args.batch * args.M) {
                            Finish(args, block, sums, args.grad_b);
                          } else {
                            Widen(sums[0], kBlock, block.rows, block.columns, totals + at, args.K);
                          }
                        }
                      });
}

// Adds the slab's part of grad_bias to totals; the last slab's writes the result.
void GradBias(const Args& args, const opcast::Launch& launch, const Slab& slab, double* totals) {
  const int64_t grain = kChunk / (kBlock * std::max<int64_t>(1, slab.Rows()));
  opcast::ParallelFor(launch, Blocks(args.N), grain, [&](int64_t begin, int64_t end) {
    for (int64_t index = begin; index < end; ++index) {
      const Block block(index, 1, args.N);
      double* const sums = totals + block.j;
      for (int64_t m = slab.first; m < slab.last; m += kDepth) {
        float g[kDepth * kBlock];
        const int64_t depth = std::min(kDepth, slab.last - m);
        Copy(slab.type, slab.data, slab.Offset(m, block.j), slab.columns, depth, block.columns, g,
             kBlock);
        for (int64_t i = 0; i < depth; ++i) {
          for (int64_t j = 0; j < block.columns; ++j) sums[j] += g[i * kBlock + j];
        }
      }
      if (slab.last == args.batch * args.M)
        Store(args.T, sums, block.columns, args.grad_bias, block.j);
    }
  });
}

}  // namespace

opcast::Status GemmBackward(const Args& args, const opcast::Launch& launch) {
  const opcast::Status declared = Visit(args, [](const auto& a) {
    using Typed = std::decay_t<decltype(a)>;
    static_assert(kKnown<typename Typed::T> && kKnown<typename Typed::O>);
    return opcast::Status::Ok();
  });
  if (!declared.ok()) return declared;
  const int64_t rows = args.batch * args.M;
  const bool plain = args.activation == GemmBackwardActivation::kNone;
  const int64_t height = plain ? rows : std::min(rows, SlabRows(args.N));
  const std::unique_ptr<float[]> slopes(plain ? nullptr : new float[height * args.N]);
  const std::unique_ptr<float[]> grad_b(height == rows ? nullptr : new float[args.N * args.K]);
  const std::unique_ptr<double[]> grad_bias(args.bias == nullptr ? nullptr : new double[args.N]());
  int64_t first = 0;
  do {  // once at least: without rows the sums are zero
    Slab slab{args.O, args.grad_c, first, std::min(rows, first + height), args.N};
    if (!plain) {
      FillSlab(args, launch, slab, slopes.get());
      slab.type = DType::kF32;
      slab.data = slopes.get();
    }
    GradA(args, launch, slab);
    GradB(args, launch, slab, grad_b.get());
    if (grad_bias != nullptr) GradBias(args, launch, slab, grad_bias.get());
    first = slab.last;
  } while (first < rows);
  return declared;
}

}  // namespace opcast_ops
