// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows; see layer_norm.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/norm/layer_norm.h"

#include "layer_norm.gen.h"

namespace opcast_ops {

namespace layer_norm {
OPCAST_LAYER_NORM(float);
OPCAST_LAYER_NORM(opcast::f16);
OPCAST_LAYER_NORM(opcast::bf16);
}  // namespace layer_norm

opcast::Status LayerNorm(const LayerNormArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    const layer_norm::Arrays<typename A::T, typename A::W> rows{a.y,      a.mean, a.rstd, a.x,
                                                                a.weight, a.bias, a.N,    a.eps};
    return layer_norm::ForAll(rows, a.batch, launch);
  });
}

}  // namespace opcast_ops
