// c = a @ b.T for FP8 numbers, each times its block's scale, dense rows. The products of 128
// columns are summed in float (see gemm_float_tile.h). These sums times the scales are added in
// double, and rounded once.
//
// Registers: at most 128.
// sass: allows fp64 in ProductKernel: precision, as the head of this file says
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "cuda/lib/gemm_factors.h"
#include "cuda/lib/gemm_float_tile.h"
#include "cuda/matmul/gemm_epilogue_plain.h"
#include "gemm_a8w8_blockscale.gen.h"

namespace opcast_ops {
namespace {

constexpr int kGroup = 128;  // columns that share a scale, and rows of b

struct ScaledPasses {
  using Total = double;

  const float* a_scale;
  const float* b_scale;
  int64_t rows, columns, groups;

  OPCAST_DEVICE bool EndAt(int64_t k) const { return k % kGroup == 0; }
  OPCAST_DEVICE double Factor(int64_t i, int64_t j, int64_t k) const {
    if (i >= rows || j >= columns) return 0;
    const int64_t group = k / kGroup - 1;
    return double{a_scale[i * groups + group]} * b_scale[j / kGroup * groups + group];
  }
};

}  // namespace

opcast::Status GemmA8w8BlockscaleCuda(const GemmA8w8BlockscaleArgs& args,
                                      const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using Rows = RowFactor<typename Args::Q, EvenRows>;
    const Rows left{a.a, a.batch, {a.K}}, right{a.b, a.N, {a.K}};
    const ScaledPasses passes{a.a_scale, a.b_scale, a.batch, a.N, a.K / kGroup};
    const PlainFinish<typename Args::O> finish{a.c, a.N};
    return Product(launch, left, right, finish, 1, a.batch, a.N, a.K, passes);
  });
}

}  // namespace opcast_ops
