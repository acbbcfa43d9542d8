// c = activation(alpha * a @ b.T + bias), a and b with contiguous rows, for all dtypes and sizes.
// Products are summed in float (see product.h); the rest is computed in double and rounded once.
#include "gemm.gen.h"
#include "gemm_finish.h"
#include "gemm_parts.h"
#include "product.h"

namespace ops {

opcast::Status GemmSimt(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](auto types) {
    using T = typename decltype(types)::T;
    using O = typename decltype(types)::O;
    return Product(launch, LeftOf<T>(args), RightOf<T>(args), GemmFinish<T, O>(args), 1,
                   args.batch * args.M, args.N, args.K);
  });
}

}  // namespace ops
