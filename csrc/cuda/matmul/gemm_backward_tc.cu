// The gradients of gemm for arrays of one type of 16 bits, on tensor cores (see
// gemm_tensor_tile.h): grad_a = alpha * G @ b, grad_b = alpha * G.T @ a, grad_bias = the sum of G's
// rows.
//
// G is grad_c itself, or with relu zeros in some places of it, in scratch: so it has no more than
// 16 bits. (That of silu has, and goes through gemm_backward.cu.) Products are summed in float,
// grad_bias in double, and rounded once. All sums have an order that depends on their length only.
//
// Registers: at most 248.
// sass: allows call in AddPassesKernel: indices beyond 32 bits
// sass: allows fp64 in BiasKernel: precision, as the head of this file says
// sass: allows narrow in BiasKernel: sums over a column
// sass: allows call in TensorKernel: indices beyond 32 bits
// sass: allows fp64 in TensorKernel: precision, as the head of this file says
// sass: allows narrow in TensorKernel: arrays whose rows are not aligned
#include <type_traits>

#include "cuda/matmul/gemm_backward.h"
#include "cuda/matmul/gemm_tensor_tile.h"
#include "gemm_backward.gen.h"

namespace opcast_ops {
namespace {

// The gradients from G, which is dense.
template <class Typed, class T = typename Typed::T>
opcast::Status Gradients(const Typed& args, const opcast::Launch& launch, const T* grad) {
  const GradientFactors<T, T> f(args, grad);
  opcast::Status status =
      TensorProduct<T>(launch, f.grad_rows, f.b_columns, f.to_a, args.N, args.partials);
  if (!status.ok()) return status;
  status = TensorProduct<T>(launch, f.grad_columns, f.a_columns, f.to_b, args.batch * args.M,
                            args.partials);
  return status.ok() ? BiasGradient(args, launch, grad) : status;
}

}  // namespace

opcast::Status GemmBackwardTc(const GemmBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using O = typename std::decay_t<decltype(a)>::O;
    if constexpr (sizeof(T) != 2 || !std::is_same_v<T, O>) {
      return opcast::Status::Error("two dtypes on tensor cores");  // the definition rules it out
    } else {
      const T* grad = a.grad_c;
      if (a.activation == GemmBackwardActivation::kNone) return Gradients(a, launch, grad);
      T* const slopes = reinterpret_cast<T*>(a.slopes);
      const Slope<T, T, T> slope{{a.alpha, a.bias}, a.activation, grad, slopes, a.N};
      const opcast::Status status = TensorProduct<T>(launch, LeftOf(a), RightOf(a), slope, a.K);
      return status.ok() ? Gradients<std::decay_t<decltype(a)>>(a, launch, slopes) : status;
    }
  });
}

}  // namespace opcast_ops
