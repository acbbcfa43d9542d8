// The gradients of gemm by cuBLASLt, for activation none: grad_a = alpha * grad_c @ b, and
// grad_b = alpha * grad_c.T @ a, with which it also adds up grad_bias, the sum of grad_c's rows.
// In columns: grad_a.T = b.T @ grad_c.T, and grad_b.T = a.T @ grad_c.
#include <algorithm>

#include "cuda/matmul/cublaslt_rows.h"
#include "gemm_backward.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kWorkspace = int64_t{8} << 20;  // the bytes of partials

struct Products {
  cublaslt::Product to_a, to_b;
};

// The products of a call; false where rows lie at no equal distances.
bool ProductsOf(const GemmBackwardArgs& args, Products* p) {
  const cublaslt::Type type = cublaslt::TypeOf(args.T);
  cublaslt::EqualRows a, b;
  if (!cublaslt::FindEqualRows(args.a_layout, &a) || a.batch > 1) return false;
  if (!cublaslt::FindEqualRows(args.b_layout, &b)) return false;
  const int64_t rows = args.batch * args.M;
  const cublaslt::Matrix grad = cublaslt::DenseMatrix(type, args.N, rows);
  p->to_a.a = cublaslt::MatrixOf(type, args.K, b);
  p->to_a.b = grad;
  p->to_a.d = cublaslt::DenseMatrix(type, args.K, rows);
  p->to_b.a = cublaslt::MatrixOf(type, args.K, a);
  p->to_b.b = cublaslt::Transposed(grad);
  p->to_b.d = cublaslt::DenseMatrix(type, args.K, args.N);
  if (args.grad_bias != nullptr) p->to_b.epilogue = cublaslt::kSumsOfB;
  p->to_a.workspace = p->to_b.workspace = kWorkspace;
  return true;
}

}  // namespace

const char* GemmBackwardCublasltSupported(const GemmBackwardArgs& args,
                                          const opcast::Launch& launch) {
  if (!cublaslt::Lt().reason.empty()) return cublaslt::Lt().reason.c_str();
  for (const void* p :
       {args.grad_c, args.a, args.b, static_cast<const void*>(args.grad_a),
        static_cast<const void*>(args.grad_b), static_cast<const void*>(args.grad_bias)}) {
    if (!cublaslt::Aligned(p)) return "needs arrays that begin at multiples of 16 bytes";
  }
  if (args.alpha == 0) return "cuBLASLt may skip a product that alpha makes 0, and lose NaN";
  if (args.grad_bias != nullptr && args.alpha != 1)
    return "cuBLASLt does not say whether alpha scales the sums that it adds up beside a product";
  Products p;
  if (!ProductsOf(args, &p)) return "needs rows at equal distances";
  const char* reason = cublaslt::Refusal(p.to_a, launch);
  return reason != nullptr ? reason : cublaslt::Refusal(p.to_b, launch);
}

int64_t GemmBackwardCublasltWorkspace(const GemmBackwardArgs&, const opcast::Launch&) {
  return kWorkspace;
}

opcast::Status GemmBackwardCublaslt(const GemmBackwardArgs& args, const opcast::Launch& launch) {
  Products p;
  ProductsOf(args, &p);
  cublaslt::Arrays at = {args.b, args.grad_c, args.grad_a};
  at.workspace = args.partials;
  const opcast::Status status = cublaslt::Multiply(p.to_a, at, args.alpha, launch);
  if (!status.ok()) return status;
  at.a = args.a, at.b = args.grad_c, at.d = args.grad_b, at.bias = args.grad_bias;
  return cublaslt::Multiply(p.to_b, at, args.alpha, launch);
}

}  // namespace opcast_ops
