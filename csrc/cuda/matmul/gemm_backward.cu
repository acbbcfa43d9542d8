// grad_a = alpha * G @ b, grad_b = alpha * G.T @ a, grad_bias = the sum of G's rows, where G is
// grad_c times the slope of the activation at alpha * a @ b.T + bias.
//
// Without an activation G is grad_c itself; otherwise the product is computed again, and G lies in
// scratch as floats. Products are summed in float (see gemm_float_tile.h), grad_bias in double, and
// rounded once. All sums have an order that depends on their length only.
//
// Registers: at most 128.
// sass: allows fp64 in BiasKernel: precision, as the head of this file says
// sass: allows narrow in BiasKernel: sums over a column
// sass: allows call in ProductKernel: indices beyond 32 bits
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "cuda/lib/gemm_float_tile.h"
#include "cuda/matmul/gemm_backward.h"
#include "gemm_backward.gen.h"

namespace opcast_ops {
namespace {

using Args = GemmBackwardArgs;

// The gradients from G, which is dense.
template <class Typed, class G>
opcast::Status Gradients(const Typed& args, const opcast::Launch& launch, const G* grad) {
  const GradientFactors<typename Typed::T, G> f(args, grad);
  const int64_t rows = args.batch * args.M;
  opcast::Status status =
      Product(launch, f.grad_rows, f.b_columns, f.to_a, 1, rows, args.K, args.N);
  if (!status.ok()) return status;
  status = Product(launch, f.grad_columns, f.a_columns, f.to_b, 1, args.N, args.K, rows);
  return status.ok() ? BiasGradient(args, launch, grad) : status;
}

}  // namespace

opcast::Status GemmBackwardCuda(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using O = typename std::decay_t<decltype(a)>::O;
    const O* grad = a.grad_c;
    if (a.activation == GemmBackwardActivation::kNone) return Gradients(a, launch, grad);
    float* slopes = a.slopes;
    const Affine<T> affine{a.alpha, a.bias};
    const Slope<T, O, float> slope{affine, a.activation, grad, slopes, a.N};
    const opcast::Status status =
        Product(launch, LeftOf(a), RightOf(a), slope, 1, a.batch * a.M, a.N, a.K);
    return status.ok() ? Gradients(a, launch, slopes) : status;
  });
}

}  // namespace opcast_ops
