// ids[i] = the k largest of row i of gating, dense rows; weights[i] = their softmax over the row,
// divided by their sum if asked. A warp for each row. Logits are compared as they are; differences
// and sums are pairs of floats, so that small probabilities are right too.
//
// Registers: at most 64.
// sass: allows call in TopkSoftmaxKernel: precision, as the head of this file says
// sass: allows narrow in TopkSoftmaxKernel: rows at any address
#include "cuda/lib/exp.h"
#include "cuda/lib/float_pairs.h"
#include "cuda/moe/expert_ranking.h"
#include "topk_softmax.gen.h"

namespace opcast_ops {
namespace {

constexpr int kRows = 4;  // of a block, a warp each

// e^(x - max) for x <= max.
OPCAST_DEVICE float WeightOf(float x, float max) {
  const Pair difference = Add(x, -max);
  const bool counts = difference.high > -200;  // else the result is 0, and the rest may be large
  return Exp(difference.high, counts ? difference.low : 0).Value();
}

template <class T>
OPCAST_DEVICE void ChooseExperts(const T* logits, int64_t n, int64_t k, bool renormalize,
                                 float* weights, int32_t* ids) {
  const auto value = [&](int64_t e) { return static_cast<float>(logits[e]); };
  const int lane = opcast::Lane();
  float max = 0;
  Pair sum{}, chosen{};
  const auto all = [](int64_t) { return true; };
  ForBest<float>(n, k, value, all, [&](int64_t j, const Ranked<float>& best) {
    if (j == 0) max = best.value;
    const float weight = WeightOf(best.value, max);
    chosen = chosen + weight;
    if (lane != 0) return;
    weights[j] = weight;
    ids[j] = opcast::Narrow<int32_t>(best.place);
  });
  for (int64_t e = lane; e < n; e += opcast::kWarp) sum = sum + WeightOf(value(e), max);
  const float total = Settle(opcast::WarpReduce(sum, [](Pair a, Pair b) { return a + b; })).high;
  const float divisor = renormalize && total == total ? Settle(chosen).high : total;
  if (lane != 0) return;
  for (int64_t j = 0; j < k; ++j) weights[j] = weights[j] / divisor;
}

template <class T>
__global__ void __launch_bounds__(kRows* opcast::kWarp)
    TopkSoftmaxKernel(const T* gating, int64_t rows, int64_t n, int64_t k, bool renormalize,
                      float* weights, int32_t* ids) {
  const int64_t step = int64_t{gridDim.x} * kRows;
  for (int64_t i = int64_t{blockIdx.x} * kRows + threadIdx.x / opcast::kWarp; i < rows; i += step)
    ChooseExperts(gating + i * n, n, k, renormalize, weights + i * k, ids + i * k);
}

}  // namespace

opcast::Status TopkSoftmaxCuda(const TopkSoftmaxArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    return opcast::Start(TopkSoftmaxKernel<T>, opcast::Blocks((a.N + kRows - 1) / kRows),
                         kRows * opcast::kWarp, 0, launch, a.gating, a.N, a.E, a.k, a.renormalize,
                         a.weights, a.ids);
  });
}

}  // namespace opcast_ops
