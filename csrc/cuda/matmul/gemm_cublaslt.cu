// c = alpha * a @ b.T + bias by cuBLASLt, which computes c.T = b @ a.T in columns.
// Sums are float; the library decides in which order, and how they are split along the depth.
#include "cuda/matmul/cublaslt_rows.h"
#include "gemm.gen.h"

namespace opcast_ops {
namespace {

// The product of a call; false where rows lie at no equal distances.
bool ProductOf(const GemmArgs& args, cublaslt::Product* p) {
  const cublaslt::Type type = cublaslt::TypeOf(args.T);
  cublaslt::EqualRows a, b;
  if (!cublaslt::FindEqualRows(args.a_layout, &a)) return false;
  if (!cublaslt::FindEqualRows(args.b_layout, &b)) return false;
  p->a = cublaslt::Transposed(cublaslt::MatrixOf(type, args.K, b));
  p->b = cublaslt::MatrixOf(type, args.K, a);
  p->d = cublaslt::DenseMatrix(cublaslt::TypeOf(args.O), args.N, a.rows);
  p->batch = a.batch;
  if (args.bias != nullptr) p->epilogue = cublaslt::kBias;
  p->workspace = args.W;
  return true;
}

}  // namespace

const char* GemmCublasltSupported(const GemmArgs& args, const opcast::Launch& launch) {
  if (!cublaslt::Lt().reason.empty()) return cublaslt::Lt().reason.c_str();
  if (args.activation != GemmActivation::kNone)
    return "cuBLASLt has no silu, and does not promise that its relu keeps NaN";
  if (args.alpha == 0) return "cuBLASLt may skip a product that alpha makes 0, and lose NaN";
  if (args.bias != nullptr && args.T != args.O) return "needs c and bias of one dtype";
  if (!cublaslt::Aligned(args.a) || !cublaslt::Aligned(args.b) || !cublaslt::Aligned(args.c) ||
      !cublaslt::Aligned(args.bias))
    return "needs arrays that begin at multiples of 16 bytes";
  cublaslt::Product p;
  if (!ProductOf(args, &p)) return "needs rows at equal distances";
  return cublaslt::Refusal(p, launch);
}

opcast::Status GemmCublaslt(const GemmArgs& args, const opcast::Launch& launch) {
  cublaslt::Product p;
  ProductOf(args, &p);
  cublaslt::Arrays at = {args.b, args.a, args.c, args.bias};
  at.workspace = args.workspace;
  return cublaslt::Multiply(p, at, args.alpha, launch);
}

}  // namespace opcast_ops
