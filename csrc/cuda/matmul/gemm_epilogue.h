// The last step of the kernels of gemm: from a sum of products to an element of c.
#pragma once

#include "cuda/lib/gemm_factors.h"
#include "gemm.gen.h"

namespace opcast_ops {

template <class T, class O>
struct GemmFinish {
  Affine<T> affine;
  GemmActivation activation;
  O* c;
  int64_t columns;

  explicit GemmFinish(const GemmTyped<T, O>& args)
      : affine{args.alpha, args.bias}, activation(args.activation), c(args.c), columns(args.N) {}

  OPCAST_DEVICE void operator()(int64_t, int64_t i, int64_t j, float sum) const {
    double value = affine(j, sum);
    if (activation == GemmActivation::kRelu) value = value < 0 ? 0 : value;
    if (activation == GemmActivation::kSilu) value = value / (1 + exp(-value));
    c[i * columns + j] = static_cast<O>(static_cast<float>(value));
  }
};

}  // namespace opcast_ops
