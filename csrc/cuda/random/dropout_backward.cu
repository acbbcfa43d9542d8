// grad_x[i] = grad_y[i] / (1 - p) where bit i says that dropout kept number i, else 0: what dropout
// does to x.
//
// Registers: at most 64.
// sass: allows narrow in DropBackwardKernel: arrays whose rows are not aligned
#include "cuda/random/dropout.h"
#include "dropout_backward.gen.h"

namespace opcast_ops {
namespace {

template <class T>
__global__ void __launch_bounds__(kDropThreads)
    DropBackwardKernel(float scale, int64_t n, bool aligned, const uint8_t* kept, const T* grad_y,
                       T* grad_x) {
  const int64_t step = int64_t{gridDim.x} * kDropThreads;
  for (int64_t k = int64_t{blockIdx.x} * kDropThreads + threadIdx.x; kDropEach * k < n; k += step) {
    const int64_t i = kDropEach * k;
    Keep(kept[k], scale, n - i, aligned, grad_y + i, grad_x + i);
  }
}

}  // namespace

opcast::Status DropoutBackwardCuda(const DropoutBackwardArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return opcast::Start(DropBackwardKernel<T>, opcast::Blocks(DropTiles(a.N)), kDropThreads, 0,
                         launch, DropScale(a.p), a.N, Aligned({a.grad_y, a.grad_x}), a.kept,
                         a.grad_y, a.grad_x);
  });
}

}  // namespace opcast_ops
