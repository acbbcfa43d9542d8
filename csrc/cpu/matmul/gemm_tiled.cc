// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows. Products are summed in
// float, in panels of the depth (see gemm_blocks.h); the rest is computed in double and rounded
// once. Bits depend on the values and K only.
#include "cpu/lib/standard_headers.h"

#include "cpu/lib/gemm_blocks.h"
#include "cpu/lib/sigmoid_gates.h"
#include "gemm.gen.h"

namespace opcast_ops {
namespace {

// Applies the activation.
template <int kWidth>
inline void Activate(GemmActivation activation, double* values, int64_t n) {
  if (activation == GemmActivation::kRelu) {
    for (int64_t i = 0; i < n; ++i) values[i] = values[i] < 0 ? 0 : values[i];
  } else if (activation == GemmActivation::kSilu) {
    for (int64_t i = 0; i < n; ++i) values[i] *= Sigmoid<kWidth>(values[i]);
  }
}

// Writes the block: alpha, bias, activation, rounding.
template <int kWidth, class T, class O>
inline void Finish(const GemmTyped<T, O>& args, const Block& block, const Sums* sums) {
  float bias[kBlockColumns] = {};
  if (args.bias != nullptr) Widen<kWidth>(args.bias + block.j, bias, block.columns);
  for (int64_t i = 0; i < block.rows; ++i) {
    double values[kBlockColumns];
    float rounded[kBlockColumns];
    for (int64_t j = 0; j < block.columns; ++j) values[j] = args.alpha * sums[i][j] + bias[j];
    Activate<kWidth>(args.activation, values, block.columns);
    for (int64_t j = 0; j < block.columns; ++j) rounded[j] = static_cast<float>(values[j]);
    Narrow<kWidth>(rounded, args.c + (block.i + i) * args.N + block.j, block.columns);
  }
}

}  // namespace

opcast::Status GemmTiled(const GemmArgs& args, const opcast::Launch& launch,
                         const GemmTiledParams& params) {
  const Cut cut{params.few_rows, params.columns};
  return Visit(args, [&](const auto& a) {
    const Factor left{args.T, a.a, a.a_layout.Stride(-2), true, &a.a_layout, a.M};
    const Factor right{args.T, a.b, a.b_layout.Stride(-2)};
    const auto finish = [&a](const Block& block, const Sums* sums, auto width) {
      Finish<width>(a, block, sums);
    };
    ForBlocks(launch, {a.batch * a.M, a.N, a.K, cut}, left, right, Clear, finish);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
