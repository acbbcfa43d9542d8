// grad_a = alpha * G @ b, grad_b = alpha * G.T @ a, grad_bias = the sum of G's rows, where G is
// grad_c times the slope of the activation at alpha * a @ b.T + bias.
//
// Without an activation G is grad_c itself; otherwise the product is computed again as gemm does,
// for some rows at a time. Then G is grad_c or 0 for relu, and float for silu, whose slope is as
// precise as the sums that it is taken at. Products are summed in float, in panels of the depth
// (see gemm_blocks.h), grad_bias in double, and rounded once. Bits depend on the values
// and on the lengths of the sums only.
#include "cpu/lib/standard_headers.h"

#include <memory>

#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/lib/sigmoid_gates.h"
#include "gemm_backward.gen.h"

namespace opcast_ops {
namespace {

using Args = GemmBackwardArgs;

// Some rows of G, counted through all matrices of the batch: of O, or of floats.
struct Slab {
  opcast::DType type;
  const void* data;
  int64_t first, rows, columns;
  bool last;

  // The slab as a factor whose elements meet along its rows, or across them.
  Factor Along() const { return {type, data, columns}; }
  Factor Across() const { return {type, data, columns, false}; }
};

// Rows of a slab that is computed: some MiB of floats, and whole panels, of pairs too, so that no
// sum depends on where slabs begin.
inline int64_t SlabRows(int64_t columns) {
  constexpr int64_t kElements = 1 << 20, kWhole = 2 * kPanel;
  return std::max<int64_t>(1, kElements / std::max<int64_t>(1, columns) / kWhole) * kWhole;
}

// The left matrices as a factor, from row `first` on.
inline Factor LeftFactor(const Args& args, bool along, int64_t first) {
  return {args.T, args.a, args.a_layout.Stride(-2), along, &args.a_layout, args.M, first};
}

// grad times the slope of x * sigmoid(x): (1 + e^-|x| * (1 + x)) / (1 + e^-|x|)^2 for x >= 0, and
// e^x * (1 + x + e^x) / (1 + e^x)^2 below. The power of two comes last and in two parts, so that
// neither factor leaves the range of floats before the product does.
template <int kWidth>
inline float SiluGradient(float grad, float x) {
  constexpr float kEnd = 170;  // beyond, the slope is 0 or 1
  x = Select(__builtin_fabsf(x) > kEnd, __builtin_copysignf(kEnd, x), x);
  const bool negative = x < 0;
  const auto parts = SplitExp<kWidth>(-__builtin_fabsf(x));
  const float fraction = parts.template Fraction<kWidth>(), e = Scale(fraction, parts.n);
  const float below = Select(x == -kEnd, 0.0f, fraction * ((1 + x) + e));
  const float slope = Select(negative, below, Fma<kWidth>(e, 1 + x, 1));
  const int32_t n = parts.n & (0 - static_cast<int32_t>(negative)), half = n >> 1;
  const float root = 1 / (1 + e);
  return grad * PowerOfTwo(half) * (slope * root * root) * PowerOfTwo(n - half);
}

// Multiplies gradients by the slope of the activation at value(0), value(1), ...
template <int kWidth, class Value>
inline void Activate(GemmBackwardActivation activation, Value value, int64_t n, float* grad) {
  if (activation == GemmBackwardActivation::kRelu) {
    for (int64_t j = 0; j < n; ++j) grad[j] = Select(value(j) <= 0, 0.0f, grad[j]);
  } else {
    for (int64_t j = 0; j < n; ++j)
      grad[j] = SiluGradient<kWidth>(grad[j], static_cast<float>(value(j)));
  }
}

// Fills rows of G: grad_c times the slope at the products.
void FillSlab(const Args& args, const opcast::Launch& launch, const Slab& slab, void* to) {
  const Factor a = LeftFactor(args, true, slab.first);
  const Factor b{args.T, args.b, args.b_layout.Stride(-2)};
  const auto finish = [&](const Block& block, const Sums* sums, auto width) {
    float bias[kBlockColumns] = {}, grad[kBlockColumns];
    if (args.bias != nullptr) Read(args.T, args.bias, block.j, block.columns, bias, width);
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t at = (block.i + i) * args.N + block.j;
      Read(args.O, args.grad_c, slab.first * args.N + at, block.columns, grad, width);
      const auto value = [&](int64_t j) { return args.alpha * sums[i][j] + bias[j]; };
      Activate<width>(args.activation, value, block.columns, grad);
      Write(slab.type, grad, block.columns, to, at, width);
    }
  };
  ForBlocks(launch, {slab.rows, args.N, args.K}, a, b, Clear, finish);
}

// Writes a row of a block of a gradient: alpha times the sums.
template <int kWidth>
inline void WriteRow(const Args& args, const float* sums, int64_t n, void* to, int64_t offset) {
  float values[kBlockColumns];
  for (int64_t j = 0; j < n; ++j) values[j] = static_cast<float>(args.alpha * sums[j]);
  Write(args.T, values, n, to, offset, Width<kWidth>());
}

// The slab's rows of grad_a = alpha * G @ b.
void GradA(const Args& args, const opcast::Launch& launch, const Slab& slab) {
  const Factor b{args.T, args.b, args.b_layout.Stride(-2), false};
  const auto finish = [&](const Block& block, const Sums* sums, auto width) {
    for (int64_t i = 0; i < block.rows; ++i)
      WriteRow<width>(args, sums[i], block.columns, args.grad_a,
                      (slab.first + block.i + i) * args.K + block.j);
  };
  ForBlocks(launch, {slab.rows, args.K, args.N}, slab.Along(), b, Clear, finish);
}

// Adds the slab's part of grad_b = alpha * G.T @ a to totals; the last slab's writes the result.
void GradB(const Args& args, const opcast::Launch& launch, const Slab& slab, float* totals) {
  const auto begin = [&](const Block& block, Sums* sums) {
    if (slab.first == 0) return Clear(block, sums);
    for (int64_t i = 0; i < block.rows; ++i)
      std::copy_n(totals + (block.i + i) * args.K + block.j, block.columns, sums[i]);
  };
  const auto finish = [&](const Block& block, const Sums* sums, auto width) {
    for (int64_t i = 0; i < block.rows; ++i) {
      const int64_t at = (block.i + i) * args.K + block.j;
      if (slab.last) {
        WriteRow<width>(args, sums[i], block.columns, args.grad_b, at);
      } else {
        std::copy_n(sums[i], block.columns, totals + at);
      }
    }
  };
  ForBlocks(launch, {args.N, args.K, slab.rows}, slab.Across(), LeftFactor(args, false, slab.first),
            begin, finish);
}

// Adds the slab's part of grad_bias to totals; the last slab's writes the result.
void GradBias(const Args& args, const opcast::Launch& launch, const Slab& slab, double* totals) {
  const Blocks blocks(1, args.N, slab.rows);
  opcast::ParallelFor(
      launch, blocks.Count(), blocks.PerChunk(), [&](int64_t begin, int64_t end, auto width) {
        for (int64_t index = begin; index < end; ++index) {
          const Block block = blocks.At(index);
          double* const sums = totals + block.j;
          float row[kBlockColumns];
          for (int64_t m = 0; m < slab.rows; ++m) {
            Read(slab.type, slab.data, m * args.N + block.j, block.columns, row, width);
            for (int64_t j = 0; j < block.columns; ++j) sums[j] += row[j];
          }
          if (!slab.last) continue;
          for (int64_t j = 0; j < block.columns; ++j) row[j] = static_cast<float>(sums[j]);
          Write(args.T, row, block.columns, args.grad_bias, block.j, width);
        }
      });
}

// Adds what the slab contributes to all gradients.
void AddSlab(const Args& args, const opcast::Launch& launch, const Slab& slab, float* grad_b,
             double* grad_bias) {
  GradA(args, launch, slab);
  GradB(args, launch, slab, grad_b);
  if (grad_bias != nullptr) GradBias(args, launch, slab, grad_bias);
}

}  // namespace

opcast::Status GemmBackward(const Args& args, const opcast::Launch& launch) {
  const opcast::Status declared = Visit(args, [](const auto& a) {
    using Typed = std::decay_t<decltype(a)>;
    static_assert(kIsFactor<typename Typed::T> && kIsFactor<typename Typed::O>);
    return opcast::Status::Ok();
  });
  if (!declared.ok()) return declared;
  const int64_t rows = args.batch * args.M;
  const std::unique_ptr<double[]> grad_bias(args.bias == nullptr ? nullptr : new double[args.N]());
  if (args.activation == GemmBackwardActivation::kNone) {
    AddSlab(args, launch, {args.O, args.grad_c, 0, rows, args.N, true}, nullptr, grad_bias.get());
    return declared;
  }
  const int64_t height = std::min(rows, SlabRows(args.N));
  const bool exact = args.activation == GemmBackwardActivation::kRelu;  // G has numbers of O
  const opcast::DType type = exact ? args.O : opcast::DType::kF32;
  const std::unique_ptr<float[]> slopes(new float[height * args.N]);
  const std::unique_ptr<float[]> grad_b(height == rows ? nullptr : new float[args.N * args.K]);
  int64_t first = 0;
  do {  // once at least: without rows the sums are zero
    const int64_t count = std::min(height, rows - first);
    const Slab slab{type, slopes.get(), first, count, args.N, first + count == rows};
    FillSlab(args, launch, slab, slopes.get());
    AddSlab(args, launch, slab, grad_b.get(), grad_bias.get());
    first += count;
  } while (first < rows);
  return declared;
}

}  // namespace opcast_ops
