// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows. Products are summed in
// float, in passes over the depth (see gemm_tile.h); the rest is computed in double and rounded
// once. Bits depend on the values and K only.
#include "gemm.gen.h"
#include "gemm_block.h"

namespace opcast_ops {
namespace {

// Writes the block: alpha, bias, activation, rounding.
template <int kWidth>
inline void Finish(const GemmArgs& args, const Block& block, const float (*sums)[kBlock]) {
  float space[kDepth] = {};
  const float* bias = LoadBias(args, block, space);
  for (int64_t i = 0; i < block.rows; ++i) {
    double values[kBlock];
    Combine(args, block, sums[i], bias, values);
    Activate<kWidth>(args.activation, values, block.columns);
    Store(args.O, values, block.columns, args.c, (block.i + i) * args.N + block.j);
  }
}

}  // namespace

opcast::Status GemmTiled(const GemmArgs& args, const opcast::Launch& launch) {
  const opcast::Status declared = Visit(args, [](const auto& a) {
    using Typed = std::decay_t<decltype(a)>;
    static_assert(kKnown<typename Typed::T> && kKnown<typename Typed::O>);
    return opcast::Status::Ok();
  });
  if (!declared.ok()) return declared;
  const int64_t rows = args.batch * args.M;
  opcast::ParallelFor(launch, Blocks(rows) * Blocks(args.N), BlocksPerChunk(rows, args.N, args.K),
                      [&args, rows](int64_t begin, int64_t end, auto width) {
                        for (int64_t index = begin; index < end; ++index) {
                          const Block block(index, rows, args.N);
                          float sums[kBlock][kBlock] = {};
                          Multiply<width>(args, block, sums);
                          Finish<width>(args, block, sums);
                        }
                      });
  return declared;
}

}  // namespace opcast_ops
