// y[i, j] = (x[i, j] - mean) / sqrt(variance + eps) * weight[j] + bias[j] with the mean and the
// population variance of row i, dense rows; see layer_norm.h.
#include "cpu/lib/standard_headers.h"

#include "cpu/norm/layer_norm.h"
#include "layernorm2d.gen.h"

namespace opcast_ops {

opcast::Status Layernorm2d(const Layernorm2dArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const layer_norm::Arrays<T, T> rows{a.y, a.mean, a.rstd, a.x, a.weight, a.bias, a.N, a.eps};
    return layer_norm::ForAll(rows, a.M, launch);
  });
}

}  // namespace opcast_ops
