// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows, as the formula says: one
// sum after the other, in double, rounded once. It takes every call, and is what the others are
// measured by.
#include "gemm.gen.h"
#include "gemm_block.h"

namespace ops {
namespace {

// Writes some columns of a row of c: one row of a block.
template <class T>
void Row(const GemmArgs& args, const Block& block) {
  const BatchRows a_rows{args.T, args.a, args.a_layout, args.M};
  const T* a = static_cast<const T*>(args.a) + a_rows.Offset(block.i);
  const T* bias = static_cast<const T*>(args.bias);
  double values[kBlock];
  for (int64_t j = 0; j < block.columns; ++j) {
    const T* b = static_cast<const T*>(args.b) + (block.j + j) * args.b_layout.Stride(-2);
    double sum = 0;
    for (int64_t k = 0; k < args.K; ++k)
      sum += double{static_cast<float>(a[k])} * static_cast<float>(b[k]);
    values[j] = args.alpha * sum;
    if (bias != nullptr) values[j] += static_cast<float>(bias[block.j + j]);
  }
  Activate(args.activation, values, block.columns);
  Store(args.O, values, block.columns, args.c, block.i * args.N + block.j);
}

}  // namespace

opcast::Status GemmNaive(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    const int64_t across = Blocks(args.N);
    opcast::ParallelFor(launch, args.batch * args.M * across, BlocksPerChunk(1, args.N, args.K),
                        [&](int64_t begin, int64_t end) {
                          for (int64_t index = begin; index < end; ++index) {
                            Block block(index % across, 1, args.N);
                            block.i = index / across;
                            Row<T>(args, block);
                          }
                        });
    return opcast::Status::Ok();
  });
}

}  // namespace ops
