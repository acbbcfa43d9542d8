// s = exp(g) s, s += beta (v - s k) k^T and o = scale * s q for each token of a sequence, in float;
// a task has a sequence and a head of v. States are rounded once, after the last token.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gated_delta_rule.gen.h"

namespace opcast_ops {
namespace {

constexpr int64_t kSums = 16;

// The sum of products, in as many sums as vectors have elements.
inline float Dot(const float* a, const float* b, int64_t n) {
  float sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  for (int64_t j = 0; i < n; ++i, ++j) sums[j] += a[i] * b[i];
  float sum = 0;
  for (const float s : sums) sum += s;
  return sum;
}

template <class T>
void Read(const T* from, int64_t n, bool normalise, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
  if (!normalise) return;
  double squares = 1e-6;
  for (int64_t i = 0; i < n; ++i) squares += double{to[i]} * to[i];
  const double factor = 1 / std::sqrt(squares);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(to[i] * factor);
}

// The state of a head, and the rows of a token.
struct Space {
  std::vector<float> state, q, k, decay;
  Space(int64_t V, int64_t K) : state(V * K), q(K), k(K), decay(K) {}
};

template <class Typed>
void Token(const Typed& a, int64_t t, int64_t h, Space* space) {
  const int64_t K = a.K, key = (t * a.Hk + h / (a.Hv / a.Hk)) * K, at = t * a.Hv + h;
  Read(a.q + key, K, a.use_qk_l2norm, space->q.data());
  Read(a.k + key, K, a.use_qk_l2norm, space->k.data());
  for (int64_t i = 0; i < K; ++i) space->decay[i] = std::exp(a.g[at * a.Kg + (a.Kg == 1 ? 0 : i)]);
  const float *q = space->q.data(), *k = space->k.data(), *decay = space->decay.data();
  for (int64_t j = 0; j < a.V; ++j) {
    float* s = space->state.data() + j * K;
    for (int64_t i = 0; i < K; ++i) s[i] *= decay[i];
    const float u = a.beta[at] * (static_cast<float>(a.v[at * a.V + j]) - Dot(s, k, K));
    for (int64_t i = 0; i < K; ++i) s[i] += u * k[i];
    using T = std::decay_t<decltype(a.o[0])>;
    a.o[at * a.V + j] = static_cast<T>(static_cast<float>(a.scale * Dot(s, q, K)));
  }
}

// Compiled once, with vectors of 16 bytes: the loops are too short for wider ones to gain much.
template <class Typed>
__attribute__((noinline)) void Sequence(const Typed& a, int64_t b, int64_t h) {
  using S = std::decay_t<decltype(a.state[0])>;
  Space space(a.V, a.K);
  const int64_t slot = a.state_indices[b], n = a.V * a.K;
  const bool kept = slot >= 0 && slot < a.P;
  S* const state = kept ? a.state + (slot * a.Hv + h) * n : nullptr;
  const int64_t begin = a.cu_seqlens[b], end = a.cu_seqlens[b + 1];
  if (begin >= end) return;
  for (int64_t i = 0; kept && i < n; ++i) space.state[i] = static_cast<float>(state[i]);
  for (int64_t t = begin; t < end; ++t) Token(a, t, h, &space);
  for (int64_t i = 0; kept && i < n; ++i) state[i] = static_cast<S>(space.state[i]);
}

}  // namespace

opcast::Status GatedDeltaRule(const GatedDeltaRuleArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    const int64_t n = a.Hv * a.V, first = a.B > 0 ? a.cu_seqlens[0] : a.N;
    const int64_t last = a.cu_seqlens[a.B];
    std::fill_n(a.o, first * n, T(0.0f));
    std::fill_n(a.o + std::max(first, last) * n, (a.N - std::max(first, last)) * n, T(0.0f));
    opcast::ParallelFor(launch, a.B * a.Hv, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Sequence(a, i / a.Hv, i % a.Hv);
    });
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
