// What the kernels for gradients of attention share: the call, the product of gradients and results
// of each row, and the gradients of sinks.
#pragma once

#include "cuda/attention/ragged_sequences.h"

namespace opcast_ops {

template <class T>
struct BackwardCall {
  DenseSequences<T> source;
  SightAndScores sight;
  const T *q, *o, *grad_o;
  int64_t q_token, q_head;
  const float *grad_lse, *lse, *sinks;
  T *grad_q, *grad_k, *grad_v;
  float *grad_sinks, *deltas;
  int64_t queries, keys, heads, key_heads, depth, columns;

  OPCAST_HOST_DEVICE int64_t Group() const { return heads / key_heads; }
  OPCAST_DEVICE const T* Q(int64_t query, int64_t head) const {
    return q + query * q_token + head * q_head;
  }
};

// The call of these arguments.
template <class T, class Args>
BackwardCall<T> BackwardCallOf(const Args& a) {
  const opcast::Layout& q = a.q_layout;
  return {SequencesOf<T>(a),
          SightOf(a.causal, a.window_left, a.sm_scale, a.soft_cap),
          a.q,
          a.o,
          a.grad_o,
          q.Stride(-3),
          q.Stride(-2),
          a.grad_lse,
          a.lse,
          a.sinks,
          a.grad_q,
          a.grad_k,
          a.grad_v,
          a.grad_sinks,
          a.deltas,
          a.Tq,
          a.Tk,
          a.Hq,
          a.Hk,
          a.D,
          a.Dv};
}

// A row has `kLanes` lanes, each of which takes a vector at a time.
template <bool kWhole, int kLanes, class T>
__global__ void __launch_bounds__(kAttentionThreads) DeltaKernel(BackwardCall<T> call) {
  constexpr int kSize = Vector<T>::kSize, kRows = kAttentionThreads / kLanes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t rows = call.queries * call.heads, step = int64_t{gridDim.x} * kRows;
  // All lanes of a warp make the same number of steps.
  for (int64_t first = int64_t{blockIdx.x} * kRows; first < rows; first += step) {
    const int64_t row = first + static_cast<int>(threadIdx.x) / kLanes;
    float sum = 0;
    OPCAST_NO_UNROLL
    for (int64_t j = lane * kSize; row < rows && j < call.columns; j += kLanes * kSize) {
      const T *const grads = call.grad_o + row * call.columns, *const o =
                                                                   call.o + row * call.columns;
      const Floats<T> x = Widen(Load<kWhole>(grads, j, call.columns)),
                      y = Widen(Load<kWhole>(o, j, call.columns));
      OPCAST_UNROLL
      for (int e = 0; e < kSize; ++e) sum = fmaf(x.at[e], y.at[e], sum);
    }
    sum = opcast::WarpReduce(sum, [](float a, float b) { return a + b; }, kLanes);
    if (lane == 0 && row < rows) call.deltas[row] = sum - call.grad_lse[row];
  }
}

// A warp for each head.
template <class T>
__global__ void __launch_bounds__(opcast::kWarp) SinkKernel(BackwardCall<T> call) {
  for (int64_t head = blockIdx.x; head < call.heads; head += gridDim.x) {
    double sum = 0;
    OPCAST_NO_UNROLL
    for (int64_t query = opcast::Lane(); query < call.queries; query += opcast::kWarp) {
      const int64_t row = query * call.heads + head;
      if (call.lse[row] == -INFINITY || !call.source.At(query, 0).there) continue;
      const double less = static_cast<double>(call.sinks[head]) - call.lse[row];
      sum -= exp(less) * call.deltas[row];
    }
    sum = opcast::WarpReduce(sum, [](double a, double b) { return a + b; });
    if (opcast::Lane() == 0) call.grad_sinks[head] = static_cast<float>(sum);
  }
}

// Starts a kernel that computes deltas.
template <bool kWhole, int kLanes, class T>
opcast::Status StartDeltas(const BackwardCall<T>& call, const opcast::Launch& launch) {
  constexpr int kRows = kAttentionThreads / kLanes;
  const int64_t tiles = (call.queries * call.heads + kRows - 1) / kRows;
  return opcast::Start(DeltaKernel<kWhole, kLanes, T>, opcast::Blocks(tiles), kAttentionThreads, 0,
                       launch, call);
}

// Starts a kernel that computes the gradients of sinks, if there are any.
template <class T>
opcast::Status StartSinks(const BackwardCall<T>& call, const opcast::Launch& launch) {
  if (call.sinks == nullptr) return opcast::Status::Ok();
  return opcast::Start(SinkKernel<T>, opcast::Blocks(call.heads), opcast::kWarp, 0, launch, call);
}

}  // namespace opcast_ops
