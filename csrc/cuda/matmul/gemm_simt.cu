// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows, for all dtypes and sizes.
// Products are summed in float (see gemm_float_tile.h); the rest is computed in double and rounded
// once.
//
// Registers: at most 128.
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "cuda/lib/gemm_factors.h"
#include "cuda/lib/gemm_float_tile.h"
#include "cuda/matmul/gemm_epilogue.h"
#include "gemm.gen.h"

namespace opcast_ops {

opcast::Status GemmSimt(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    return Product(launch, LeftOf(a), RightOf(a), GemmFinish(a), 1, a.batch * a.M, a.N, a.K);
  });
}

}  // namespace opcast_ops
