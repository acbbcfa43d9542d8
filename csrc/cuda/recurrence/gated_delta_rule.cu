// s = exp(g) s, s += beta (v - s k) k^T and o = scale * s q for each token of a sequence, in float.
// A warp has rows of the state of a sequence's head of v, one after the other, in scratch: each of
// its threads has the same elements of a row for all tokens. States are rounded once, at the end.
//
// Registers: at most 64.
// sass: allows fp64 in RunKernel: norms of queries and keys, and the scale
// sass: allows narrow in RunKernel: arrays whose rows are not aligned
#include "gated_delta_rule.gen.h"
#include "opcast/device.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 128;

struct Sum {
  template <class X>
  OPCAST_DEVICE X operator()(X a, X b) const {
    return a + b;
  }
};

template <class T>
OPCAST_DEVICE float NormFactor(const T* x, int64_t n, int lane) {
  double squares = 0;
  for (int64_t i = lane; i < n; i += opcast::kWarp) {
    const double value = static_cast<float>(x[i]);
    squares += value * value;
  }
  return static_cast<float>(1 / sqrt(opcast::WarpReduce(squares, Sum()) + 1e-6));
}

// Takes a row of the state from one token to the next.
template <class Typed>
OPCAST_DEVICE void Step(const Typed& a, int64_t t, int64_t h, int64_t j, int lane, float* s) {
  using T = typename Typed::T;
  const int64_t K = a.K, at = t * a.Hv + h, key = (t * a.Hk + h / (a.Hv / a.Hk)) * K;
  const T *const q = a.q + key, *const k = a.k + key;
  const float of_q = a.use_qk_l2norm ? NormFactor(q, K, lane) : 1.0f;
  const float of_k = a.use_qk_l2norm ? NormFactor(k, K, lane) : 1.0f;
  float recalled = 0;
  for (int64_t i = lane; i < K; i += opcast::kWarp) {
    s[i] *= expf(a.g[at * a.Kg + (a.Kg == 1 ? 0 : i)]);
    recalled += s[i] * (static_cast<float>(k[i]) * of_k);
  }
  recalled = opcast::WarpReduce(recalled, Sum());
  const float u = a.beta[at] * (static_cast<float>(a.v[at * a.V + j]) - recalled);
  float o = 0;
  for (int64_t i = lane; i < K; i += opcast::kWarp) {
    s[i] += u * (static_cast<float>(k[i]) * of_k);
    o += s[i] * (static_cast<float>(q[i]) * of_q);
  }
  o = opcast::WarpReduce(o, Sum());
  if (lane == 0) a.o[at * a.V + j] = static_cast<T>(static_cast<float>(a.scale * o));
}

template <class Typed>
__global__ void __launch_bounds__(kThreads) RunKernel(Typed a) {
  using S = typename Typed::S;
  constexpr int kWarps = kThreads / opcast::kWarp;
  const int lane = threadIdx.x % opcast::kWarp;
  const int64_t rows = a.Hv * a.V;
  for (int64_t row = blockIdx.x * int64_t{kWarps} + threadIdx.x / opcast::kWarp; row < a.B * rows;
       row += gridDim.x * int64_t{kWarps}) {
    const int64_t b = row / rows, slot = a.state_indices[b];
    const bool kept = slot >= 0 && slot < a.P;
    S* const state = a.state + (kept ? slot * rows + row % rows : 0) * a.K;
    float* const s = a.states + row * a.K;
    for (int64_t i = lane; i < a.K; i += opcast::kWarp)
      s[i] = kept ? static_cast<float>(state[i]) : 0.0f;
    const int64_t end = a.cu_seqlens[b + 1];
    for (int64_t t = a.cu_seqlens[b]; t < end; ++t)
      Step(a, t, row % rows / a.V, row % a.V, lane, s);
    for (int64_t i = lane; kept && i < a.K; i += opcast::kWarp) state[i] = static_cast<S>(s[i]);
  }
}

// Writes results of tokens that belong to no sequence.
template <class Typed>
__global__ void __launch_bounds__(kThreads) OthersKernel(Typed a) {
  using T = typename Typed::T;
  const int64_t n = a.Hv * a.V, first = a.cu_seqlens[0], last = a.cu_seqlens[a.B];
  for (int64_t t = blockIdx.x; t < a.N; t += gridDim.x) {
    if (a.B > 0 && t >= first && t < last) continue;
    for (int64_t i = threadIdx.x; i < n; i += kThreads) a.o[t * n + i] = static_cast<T>(0.0f);
  }
}

}  // namespace

opcast::Status GatedDeltaRuleCuda(const GatedDeltaRuleArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    constexpr int kWarps = kThreads / opcast::kWarp;
    const opcast::Status status =
        opcast::Start(OthersKernel<A>, opcast::Blocks(a.N), kThreads, 0, launch, a);
    if (!status.ok()) return status;
    const int64_t rows = a.B * a.Hv * a.V;
    return opcast::Start(RunKernel<A>, opcast::Blocks((rows + kWarps - 1) / kWarps), kThreads, 0,
                         launch, a);
  });
}

}  // namespace opcast_ops
