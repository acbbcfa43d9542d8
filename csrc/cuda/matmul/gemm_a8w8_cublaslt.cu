// c = a @ b.T * a_scale * b_scale + bias of FP8 by cuBLASLt, which scales rows and columns itself:
// c.T = b @ a.T in columns. Sums are float, without fast accumulation.
#include "cuda/matmul/cublaslt_rows.h"
#include "gemm_a8w8.gen.h"

namespace opcast_ops {
namespace {

cublaslt::Product ProductOf(const GemmA8w8Args& args) {
  cublaslt::Product p;
  p.a = cublaslt::Transposed(cublaslt::DenseMatrix(cublaslt::kF8E4m3, args.K, args.N));
  p.b = cublaslt::DenseMatrix(cublaslt::kF8E4m3, args.K, args.batch);
  p.d = cublaslt::DenseMatrix(cublaslt::TypeOf(args.O), args.N, args.batch);
  if (args.bias != nullptr) p.epilogue = cublaslt::kBias;
  p.scaled = true;
  p.workspace = args.W;
  return p;
}

}  // namespace

const char* GemmA8w8CublasltSupported(const GemmA8w8Args& args, const opcast::Launch& launch) {
  if (!cublaslt::Lt().reason.empty()) return cublaslt::Lt().reason.c_str();
  if (cublaslt::Lt().get_version() < cublaslt::kOuterSince)
    return "this machine lacks cuBLASLt 12.9, which scales rows and columns";
  if (args.bias != nullptr && args.O == opcast::DType::kF32)
    return "cuBLASLt adds no bias of float32 to a product of FP8";
  for (const void* p :
       {static_cast<const void*>(args.a), static_cast<const void*>(args.b),
        static_cast<const void*>(args.a_scale), static_cast<const void*>(args.b_scale),
        static_cast<const void*>(args.bias), static_cast<const void*>(args.c)}) {
    if (!cublaslt::Aligned(p)) return "needs arrays that begin at multiples of 16 bytes";
  }
  return cublaslt::Refusal(ProductOf(args), launch);
}

opcast::Status GemmA8w8Cublaslt(const GemmA8w8Args& args, const opcast::Launch& launch) {
  cublaslt::Arrays at = {args.b, args.a, args.c, args.bias, args.b_scale, args.a_scale};
  at.workspace = args.workspace;
  return cublaslt::Multiply(ProductOf(args), at, 1, launch);
}

}  // namespace opcast_ops
