// For each array, m = beta1 * m + (1 - beta1) * g, v = beta2 * v + (1 - beta2) * g^2 and
// p = (1 - lr * weight_decay) * p - lr / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps).
// Computed in double, since what is added up may cancel, and rounded once. A kernel takes some
// arrays at a time, so that small ones do not cost a launch each.
//
// Registers: at most 64.
// sass: allows call, fp64 in AdamwKernel: precision, as the head of this file says
// sass: allows narrow in AdamwKernel: parameters of 16 bits beside states of float
#include <cmath>

#include "adamw.gen.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 256, kMostArrays = 32;
constexpr int64_t kTile = 4 * kThreads;

// Some arrays. Array k has the tiles from tiles[k] on.
template <class T>
struct Arrays {
  T* params[kMostArrays];
  const T* grads[kMostArrays];
  float *means[kMostArrays], *squares[kMostArrays];
  int64_t sizes[kMostArrays], tiles[kMostArrays + 1];
  int count;
};

struct Settings {
  opcast::Scalar<float> lr;
  opcast::Scalar<int32_t> step;
  double beta1, beta2, eps, weight_decay;
};

template <class T>
__global__ void __launch_bounds__(kThreads) AdamwKernel(Arrays<T> arrays, Settings by) {
  const double lr = *by.lr, step = *by.step, kept = 1 - lr * by.weight_decay;
  const double rate = lr / (1 - ::pow(by.beta1, step));
  const double correction = 1 / ::sqrt(1 - ::pow(by.beta2, step));
  int k = 0;
  for (int64_t tile = blockIdx.x; tile < arrays.tiles[arrays.count]; tile += gridDim.x) {
    while (tile >= arrays.tiles[k + 1]) ++k;
    const int64_t begin = (tile - arrays.tiles[k]) * kTile, end = begin + kTile;
    for (int64_t i = begin + threadIdx.x; i < end && i < arrays.sizes[k]; i += kThreads) {
      const double grad = static_cast<float>(arrays.grads[k][i]);
      const double mean = by.beta1 * arrays.means[k][i] + (1 - by.beta1) * grad;
      const double square = by.beta2 * arrays.squares[k][i] + (1 - by.beta2) * grad * grad;
      const double move = rate * mean / (::sqrt(square) * correction + by.eps);
      T* const param = arrays.params[k] + i;
      *param = Round<T>(kept * static_cast<float>(*param) - move);
      arrays.means[k][i] = static_cast<float>(mean);
      arrays.squares[k][i] = static_cast<float>(square);
    }
  }
}

}  // namespace

opcast::Status AdamwCuda(const AdamwArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const Settings by{a.lr, a.step, a.beta1, a.beta2, a.eps, a.weight_decay};
    for (size_t first = 0; first < a.params.size(); first += kMostArrays) {
      Arrays<T> some{};
      for (size_t k = first; k < a.params.size() && some.count < kMostArrays; ++k) {
        const int at = some.count++;
        some.params[at] = a.params[k], some.grads[at] = a.grads[k];
        some.means[at] = a.exp_avg[k], some.squares[at] = a.exp_avg_sq[k];
        some.sizes[at] = a.batch[k];
        some.tiles[at + 1] = some.tiles[at] + (a.batch[k] + kTile - 1) / kTile;
      }
      const opcast::Status status = opcast::Start(
          AdamwKernel<T>, opcast::Blocks(some.tiles[some.count]), kThreads, 0, launch, some, by);
      if (!status.ok()) return status;
    }
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
