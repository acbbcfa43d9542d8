// c = a @ b.T * a_scale * b_scale + bias, dense rows. Numbers of 8 bits are bfloat16 without loss;
// their products are summed in float, in panels of the depth, and the panels in double (see
// gemm_quantised.h), so that sums of integers are exact. Machines that multiply bytes compute those
// as integers: see gemm_int8_dot.h. The rest is double and rounded once. Bits depend on the values
// and K only.
#include "cpu/lib/standard_headers.h"

#include "cpu/matmul/gemm_int8_dot.h"
#include "cpu/matmul/gemm_quantised.h"
#include "gemm_a8w8.gen.h"

namespace opcast_ops {
namespace {

template <int kWidth, class Q, class O>
inline void Finish(const GemmA8w8Typed<Q, O>& args, const Block& block, const WideSums* sums) {
  float bias[kBlockColumns] = {};
  if (args.bias != nullptr) Widen<kWidth>(args.bias + block.j, bias, block.columns);
  for (int64_t i = 0; i < block.rows; ++i) {
    const double scale = args.a_scale[block.i + i];
    float rounded[kBlockColumns];
    for (int64_t j = 0; j < block.columns; ++j)
      rounded[j] =
          static_cast<float>(sums[i][j] * scale * args.b_scale[block.j + j] + double{bias[j]});
    Narrow<kWidth>(rounded, args.c + (block.i + i) * args.N + block.j, block.columns);
  }
}

}  // namespace

opcast::Status GemmA8w8(const GemmA8w8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const auto finish = [&a](const Block& block, const WideSums* sums, auto width) {
      Finish<width>(a, block, sums);
    };
    const Blocks blocks(a.batch, a.N, a.K);
#if defined(__x86_64__)
    if constexpr (std::is_same_v<std::decay_t<decltype(*a.a)>, int8_t>) {
      if (HasInt8Dot()) {
        ForInt8Blocks(launch, blocks, a.a, a.b, finish);
        return opcast::Status::Ok();
      }
    }
#endif
    ForMadeBlocks(launch, blocks, a.K, BytePanels(a.a, a.K), BytePanels(a.b, a.K), AddPanel,
                  finish);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
