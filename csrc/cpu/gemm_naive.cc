// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows, as the formula says: one
// sum after the other, in double, rounded once. It takes every call, and is what the others are
// measured by.
#include "gemm.gen.h"
#include "gemm_block.h"

namespace opcast_ops {
namespace {

// Writes some columns of a row of c: one row of a block.
template <int kWidth, class T, class O>
void Row(const GemmTyped<T, O>& args, const Block& block) {
  const GemmArgs& plain = args;
  const BatchRows a_rows{plain.T, args.a, args.a_layout, args.M};
  const T* a = args.a + a_rows.Offset(block.i);
  const T* bias = args.bias;
  double values[kBlock];
  for (int64_t j = 0; j < block.columns; ++j) {
    const T* b = args.b + (block.j + j) * args.b_layout.Stride(-2);
    double sum = 0;
    for (int64_t k = 0; k < args.K; ++k)
      sum += double{static_cast<float>(a[k])} * static_cast<float>(b[k]);
    values[j] = args.alpha * sum;
    if (bias != nullptr) values[j] += static_cast<float>(bias[block.j + j]);
  }
  Activate<kWidth>(args.activation, values, block.columns);
  Store(plain.O, values, block.columns, args.c, block.i * args.N + block.j);
}

}  // namespace

opcast::Status GemmNaive(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const int64_t across = Blocks(a.N);
    opcast::ParallelFor(launch, a.batch * a.M * across, BlocksPerChunk(1, a.N, a.K),
                        [&](int64_t begin, int64_t end, auto width) {
                          for (int64_t index = begin; index < end; ++index) {
                            Block block(index % across, 1, a.N);
                            block.i = index / across;
                            Row<width>(a, block);
                          }
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
