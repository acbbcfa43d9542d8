// c = a @ b.T for FP8 numbers, each times its block's scale, dense rows. FP8 numbers are bfloat16
// without loss; the products of 128 columns are summed in float (see gemm_quantised.h). These sums
// times the scales are added in double, and rounded once. Bits depend on the values and K only.
#include "cpu/lib/standard_headers.h"

#include "cpu/matmul/gemm_quantised.h"
#include "gemm_a8w8_blockscale.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kGroup = 128;  // columns that share a scale, and rows of b
static_assert(kBlockColumns % kGroup == 0);

// Adds the sums of the 128 columns from k on.
template <class Args>
inline void AddScaled(const Args& args, const Block& block, int64_t k, const Sums* panel,
                      WideSums* sums) {
  const int64_t groups = args.K / kGroup, group = k / kGroup;
  for (int64_t i = 0; i < block.rows; ++i) {
    const double of_row = args.a_scale[(block.i + i) * groups + group];
    for (int64_t first = 0; first < block.columns; first += kGroup) {
      const double scale = of_row * args.b_scale[(block.j + first) / kGroup * groups + group];
      const int64_t end = std::min(first + kGroup, block.columns);
      for (int64_t j = first; j < end; ++j) sums[i][j] += panel[i][j] * scale;
    }
  }
}

}  // namespace

opcast::Status GemmA8w8Blockscale(const GemmA8w8BlockscaleArgs& args,
                                  const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto add = [&a](const Block& block, int64_t k, const Sums* panel, WideSums* sums) {
      AddScaled(a, block, k, panel, sums);
    };
    const auto finish = [&a](const Block& block, const WideSums* sums, auto width) {
      StoreSums<width>(block, sums, a.N, a.c);
    };
    ForMadeBlocks(launch, {a.batch, a.N, a.K}, kGroup, BytePanels(a.a, a.K), BytePanels(a.b, a.K),
                  add, finish);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
