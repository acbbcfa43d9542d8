// c = a @ b.T * a_scale * b_scale + bias, dense rows. Products are summed in float, some hundred at
// a time, which is exact for integers, and these sums in double (see gemm_float_tile.h). The rest
// is double and rounded once.
//
// Registers: at most 128.
// sass: allows fp64 in ProductKernel: precision, as the head of this file says
// sass: allows narrow in ProductKernel: tiles of rows at any address
#include "cuda/lib/gemm_factors.h"
#include "cuda/lib/gemm_float_tile.h"
#include "gemm_a8w8.gen.h"

namespace opcast_ops {
namespace {

struct DoublePasses : FloatPasses {
  using Total = double;
};

template <class O>
struct ScaledFinish {
  const float* a_scale;
  const float* b_scale;
  const O* bias;  // or null
  O* c;
  int64_t columns;

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, double sum) const {
    double value = sum * a_scale[i] * b_scale[j];
    if (bias != nullptr) value += static_cast<double>(static_cast<float>(bias[j]));
    c[i * columns + j] = static_cast<O>(static_cast<float>(value));
  }
};

}  // namespace

opcast::Status GemmA8w8Cuda(const GemmA8w8Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using Args = std::decay_t<decltype(a)>;
    using Rows = RowFactor<typename Args::Q, EvenRows>;
    const Rows left{a.a, a.batch, {a.K}}, right{a.b, a.N, {a.K}};
    const ScaledFinish<typename Args::O> finish{a.a_scale, a.b_scale, a.bias, a.c, a.N};
    return Product(launch, left, right, finish, 1, a.batch, a.N, a.K, DoublePasses());
  });
}

}  // namespace opcast_ops
