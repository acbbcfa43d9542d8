// c = activation(alpha * a @ b.T + bias) for 16-bit a and b, on tensor cores (see
// gemm_tensor_tile.h). Products are summed in float; the rest is computed in double and rounded
// once. Rows that do not begin at multiples of 16 bytes are read number by number.
//
// Registers: at most 232.
// sass: allows call in TensorKernel: indices beyond 32 bits
// sass: allows fp64 in TensorKernel: precision, as the head of this file says
// sass: allows narrow in TensorKernel: arrays whose rows are not aligned
#include <type_traits>

#include "cuda/lib/gemm_factors.h"
#include "cuda/matmul/gemm_epilogue.h"
#include "cuda/matmul/gemm_tensor_tile.h"
#include "gemm.gen.h"

namespace opcast_ops {

opcast::Status GemmF16Tc(const GemmArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    if constexpr (std::is_same_v<T, float>) {
      return opcast::Status::Error("float32 on tensor cores");  // the definition rules it out
    } else {
      return TensorProduct<T>(launch, LeftOf(a), RightOf(a), GemmFinish(a), a.K);
    }
  });
}

}  // namespace opcast_ops
