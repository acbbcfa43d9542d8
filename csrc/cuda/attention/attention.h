// Attention of rows, each a query of one head, over the keys of their sequences. A warp has a row.
//
// Keys are taken a warp at a time: each lane makes one score, whose exponential relative to the
// largest so far is a weight; then lanes are columns, to which values are added, times weights.
// All is float, rounded once, the logarithm double. Keys that a row does not see are not read. Bits
// of a row depend on what it sees only.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

#include "cuda/lib/exp.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kAttentionWarps = 4, kAttentionThreads = kAttentionWarps * opcast::kWarp;
constexpr int kAttentionAcross = 8;  // columns of a lane
constexpr int kAttentionColumns = kAttentionAcross * opcast::kWarp;

// Which keys queries see, and what becomes of scores. The last query has the place of the last key.
struct SightAndScores {
  bool causal, windowed, capped;
  int64_t window;
  float scale, cap;

  OPCAST_DEVICE int64_t Begin(int64_t place) const {
    return windowed && place > window ? place - window : 0;
  }
  OPCAST_DEVICE int64_t End(int64_t place, int64_t keys) const {
    return causal && place + 1 < keys ? place + 1 : keys;
  }
  OPCAST_DEVICE float Score(float product) const {
    return capped ? cap * tanhf(product * scale / cap) : product * scale;
  }
};

inline SightAndScores SightOf(bool causal, const std::optional<int64_t>& window, double scale,
                              const std::optional<double>& cap) {
  return {causal,
          window.has_value(),
          cap.has_value(),
          window.value_or(0),
          static_cast<float>(scale),
          static_cast<float>(cap.value_or(0))};
}

// Whether all distances are whole vectors.
template <class T>
bool AllWhole(std::initializer_list<int64_t> distances) {
  bool whole = true;
  for (const int64_t distance : distances) whole = whole && distance % Vector<T>::kSize == 0;
  return whole;
}

// The product of two rows of n numbers.
template <bool kWhole, class T>
OPCAST_DEVICE float Dot(const T* a, const T* b, int64_t n) {
  constexpr int kSize = Vector<T>::kSize;
  float sums[kSize] = {};
  OPCAST_NO_UNROLL
  for (int64_t i = 0; i < n; i += kSize) {
    const Floats<T> x = Widen(Load<kWhole>(a, i, n)), y = Widen(Load<kWhole>(b, i, n));
    OPCAST_UNROLL
    for (int e = 0; e < kSize; ++e) sums[e] = fmaf(x.at[e], y.at[e], sums[e]);
  }
  OPCAST_UNROLL
  for (int width = kSize / 2; width > 0; width /= 2) {
    OPCAST_UNROLL
    for (int e = 0; e < width; ++e) sums[e] += sums[e + width];
  }
  return sums[0];
}

// Where a row's sequence is.
template <class Keys>
struct RowOfSequence {
  bool there;     // else it belongs to none
  int64_t place;  // of the query among the keys
  Keys keys;
};

// Source says which keys a query meets:
//   using Keys   a type with int64_t count, const T* K(int64_t key) const and V(int64_t key)
//   RowOfSequence<Keys> At(int64_t query, int64_t head) const
template <class T, class Source>
struct AttentionCall {
  Source source;
  SightAndScores sight;
  const T* q;
  int64_t q_token, q_head;
  const float* sinks;
  T* o;
  float* lse;
  int64_t queries, heads, group, depth, columns;
};

// What a warp knows of its row while it goes over the keys.
struct RowState {
  float largest, sum;
  float sums[kAttentionAcross];

  OPCAST_DEVICE explicit RowState(float sink) : largest(sink), sum(0), sums{} {
    if (sink != -INFINITY) sum = 1 + (sink - sink);  // NaN for infinity
  }

  // Makes a weight of the lane's score, which is -inf where there is no key.
  OPCAST_DEVICE float Weigh(float score) {
    const auto larger = [](float a, float b) { return a > b ? a : b; };
    const float most = opcast::WarpReduce(score == score ? score : -INFINITY, larger);
    if (most > largest) {
      const float shrink = largest == -INFINITY ? 1.0f : Exp(largest - most).Value();
      largest = most, sum *= shrink;
      OPCAST_UNROLL
      for (float& s : sums) s *= shrink;
    }
    const float less = score - (largest == -INFINITY ? 0.0f : largest);
    const float weight = score == -INFINITY ? 0.0f : Exp(less).Value();
    sum += opcast::WarpReduce(weight, [](float a, float b) { return a + b; });
    return weight;
  }
};

// Writes the row's columns from `column` on.
template <class T, class Source>
OPCAST_DEVICE void WriteRow(const AttentionCall<T, Source>& call, int64_t row, int64_t column,
                            const RowState& state) {
  const float factor = state.sum == 0 ? 1.0f : 1 / state.sum;
  OPCAST_UNROLL
  for (int c = 0; c < kAttentionAcross; ++c) {
    const int64_t at = column + c * opcast::kWarp + opcast::Lane();
    if (at < call.columns) call.o[row * call.columns + at] = Round<T>(state.sums[c] * factor);
  }
  if (opcast::Lane() == 0 && column == 0)
    call.lse[row] = state.sum == 0
                        ? -INFINITY
                        : static_cast<float>(state.largest + log(static_cast<double>(state.sum)));
}

// Adds the weighted values of `count` keys.
template <class T, class Keys>
OPCAST_DEVICE void AddValues(const Keys& keys, int64_t first, int64_t count, const float* weights,
                             int64_t column, int64_t columns, RowState* state) {
  OPCAST_NO_UNROLL
  for (int64_t i = 0; i < count; ++i) {
    const T* const v = keys.V(first + i);
    const float weight = weights[i];
    OPCAST_UNROLL
    for (int c = 0; c < kAttentionAcross; ++c) {
      const int64_t at = column + c * opcast::kWarp + opcast::Lane();
      if (at < columns) state->sums[c] = fmaf(weight, static_cast<float>(v[at]), state->sums[c]);
    }
  }
}

template <bool kWhole, class T, class Source>
__global__ void __launch_bounds__(kAttentionThreads)
    AttentionKernel(AttentionCall<T, Source> call) {
  __shared__ float shared[kAttentionWarps][opcast::kWarp];
  const int warp = threadIdx.x / opcast::kWarp;
  float* const weights = shared[warp];
  const int64_t rows = call.queries * call.heads;
  for (int64_t row = int64_t{blockIdx.x} * kAttentionWarps + warp; row < rows;
       row += int64_t{gridDim.x} * kAttentionWarps) {
    const int64_t query = row / call.heads, head = row % call.heads;
    const auto at = call.source.At(query, head / call.group);
    const T* const q = call.q + query * call.q_token + head * call.q_head;
    const int64_t begin = call.sight.Begin(at.place);
    const int64_t end = at.there ? call.sight.End(at.place, at.keys.count) : 0;
    int64_t column = 0;
    do {
      RowState state(call.sinks == nullptr || !at.there ? -INFINITY : call.sinks[head]);
      OPCAST_NO_UNROLL
      for (int64_t first = begin; first < end; first += opcast::kWarp) {
        const int64_t key = first + opcast::Lane();
        const float score =
            key < end ? call.sight.Score(Dot<kWhole>(q, at.keys.K(key), call.depth)) : -INFINITY;
        weights[opcast::Lane()] = state.Weigh(score);
        opcast::SyncWarp();
        const int64_t count = end - first < opcast::kWarp ? end - first : opcast::kWarp;
        AddValues<T>(at.keys, first, count, weights, column, call.columns, &state);
        opcast::SyncWarp();
      }
      WriteRow(call, row, column, state);
      column += kAttentionColumns;
    } while (column < call.columns);
  }
}

// `whole` says whether queries and keys are whole vectors.
template <class T, class Source>
opcast::Status Attend(const opcast::Launch& launch, bool whole,
                      const AttentionCall<T, Source>& call) {
  const int64_t tiles = (call.queries * call.heads + kAttentionWarps - 1) / kAttentionWarps;
  return opcast::Start(whole ? AttentionKernel<true, T, Source> : AttentionKernel<false, T, Source>,
                       opcast::Blocks(tiles), kAttentionThreads, 0, launch, call);
}

}  // namespace opcast_ops
