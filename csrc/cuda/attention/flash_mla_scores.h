// Scores of a tile of rows of the cache, and weights of scores: see flash_mla_attend.h.
#pragma once

#include "cuda/attention/flash_mla_rows.h"
#include "cuda/attention/flash_mla_shared_memory.h"
#include "cuda/lib/vectors_16_bytes.h"

namespace opcast_ops {

namespace wmma = opcast::wmma;

using Sums = wmma::fragment<wmma::accumulator, kPart, kPart, kPart, float>;
using Left = wmma::fragment<wmma::matrix_a, kPart, kPart, kPart, bf16, wmma::row_major>;

// Writes the products of the queries and the rows over each of the warp's tiles.
OPCAST_DEVICE void Score(int warp, Shared& shared) {
  using Right = wmma::fragment<wmma::matrix_b, kPart, kPart, kPart, bf16, wmma::col_major>;
  OPCAST_NO_UNROLL
  for (int tile = warp * kWarpTiles; tile < (warp + 1) * kWarpTiles; ++tile) {
    Sums sums[kRows / kPart];
    OPCAST_UNROLL
    for (Sums& s : sums) wmma::fill_fragment(s, 0.0f);
    OPCAST_UNROLL
    for (int k = tile * kTile, step = 0; step < kTile / kPart; ++step, k += kPart) {
      Left left;
      wmma::load_matrix_sync(left, shared.q + k, kLine);
      OPCAST_UNROLL
      for (int n = 0; n < kRows / kPart; ++n) {
        Right right;
        wmma::load_matrix_sync(right, shared.rows + n * kPart * kLine + k, kLine);
        wmma::mma_sync(sums[n], left, right, sums[n]);
      }
    }
    OPCAST_UNROLL
    for (int n = 0; n < kRows / kPart; ++n)
      wmma::store_matrix_sync(shared.scores + tile * kHeads * kScoreLine + n * kPart, sums[n],
                              kScoreLine, wmma::mem_row_major);
  }
}

// What a thread has of each line with a number per row: kOwnRows of them.
template <class T>
struct alignas(kOwnRows * sizeof(T)) OwnRows {
  T at[kOwnRows];
};

OPCAST_DEVICE OwnRows<bf16> Rounded(const OwnRows<float>& numbers) {
  OwnRows<bf16> rounded;
  if constexpr (kOwnRows == 1) {
    rounded.at[0] = static_cast<bf16>(numbers.at[0]);
  } else {
    OPCAST_UNROLL
    for (int i = 0; i < kOwnRows; i += 2)
      opcast::Narrow(numbers.at[i], numbers.at[i + 1], &rounded.at[i]);
  }
  return rounded;
}

// A thread's part of a head.
struct Head {
  float base = -INFINITY;  // weights are e^(score - base)
  float sum = 0;           // of the thread's weights
  float factor = 1;        // of the scores

  // Scales large queries down, since products would overflow before they are scaled by what is
  // small. All that is lost is below 2^-90 of the largest one.
  OPCAST_DEVICE void ScaleDown(Shared& shared) {
    constexpr float kMost = 0x1p90f, kFactor = 0x1p36f;
    constexpr int kSize = Vector<bf16>::kSize, kStep = kHeadThreads * kSize;
    bf16* const q = shared.q + threadIdx.x / kHeadThreads * kLine;
    const int own = threadIdx.x % kHeadThreads * kSize;
    float most = 0;
    OPCAST_UNROLL
    for (int c = 0; c < kWidth; c += kStep) {
      const Floats<bf16> part = Widen(Load<true>(q, own + c, kWidth));
      OPCAST_UNROLL
      for (const float x : part.at) most = fmaxf(most, fabsf(x));
    }
    most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, kHeadThreads);
    if (most <= kMost) return;
    factor = kFactor;
    OPCAST_NO_UNROLL
    for (int c = 0; c < kWidth; c += kStep) {
      Floats<bf16> part = Widen(Load<true>(q, own + c, kWidth));
      OPCAST_UNROLL
      for (float& x : part.at) x /= kFactor;
      Store<true>(Narrow(part), q, own + c, kWidth);
    }
  }

  // Writes the weights of the rows, of which up to `count` are there.
  OPCAST_DEVICE void Weigh(int count, float sm_scale, Shared& shared) {
    const int head = threadIdx.x / kHeadThreads, own = threadIdx.x % kHeadThreads;
    using Line = OwnRows<float>;
    Line scores{};
    OPCAST_UNROLL
    for (int tile = 0; tile < kTiles; ++tile) {
      const Line scales = Scales(shared, tile, own);
      const float* const line = shared.scores + (tile * kHeads + head) * kScoreLine;
      const Line parts = reinterpret_cast<const Line*>(line)[own];
      OPCAST_UNROLL
      for (int i = 0; i < kOwnRows; ++i)
        scores.at[i] = fmaf(parts.at[i], scales.at[i], scores.at[i]);
    }
    float most = -INFINITY;
    OPCAST_UNROLL
    for (int i = 0; i < kOwnRows; ++i) {
      const bool there = own * kOwnRows + i < count;
      scores.at[i] = there ? sm_scale * scores.at[i] * factor : -INFINITY;
      most = fmaxf(most, scores.at[i]);
    }
    most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, kHeadThreads);
    const bool moves = most > base + kSlack;  // also from -inf to what is finite
    const float shrink = moves ? expf(base - most) : 1.0f;
    if (moves) base = most;
    sum *= shrink;
    if (own == 0) shared.factors[head] = shrink;
    OPCAST_UNROLL
    for (float& score : scores.at) {
      // While all scores are -inf, weights are zero.
      score = expf(score - (base == -INFINITY ? 0.0f : base));
      sum += score;
    }
    WriteWeights(scores, head, own, shared);
  }

 private:
  OPCAST_DEVICE static OwnRows<float> Scales(const Shared& shared, int tile, int own) {
    return reinterpret_cast<const OwnRows<float>*>(shared.scales + tile * kRows)[own];
  }

  OPCAST_DEVICE static void WriteWeights(const OwnRows<float>& weights, int head, int own,
                                         Shared& shared) {
    OPCAST_UNROLL
    for (int tile = 0; tile < kTiles; ++tile) {
      const OwnRows<float> scales = Scales(shared, tile, own);
      OwnRows<float> scaled, rest;
      OPCAST_UNROLL
      for (int i = 0; i < kOwnRows; ++i) scaled.at[i] = weights.at[i] * scales.at[i];
      const OwnRows<bf16> high = Rounded(scaled);
      OPCAST_UNROLL
      for (int i = 0; i < kOwnRows; ++i) {
        const float less = scaled.at[i] - static_cast<float>(high.at[i]);
        rest.at[i] = fabsf(less) <= kLargest ? less : 0.0f;
      }
      bf16* const line = shared.weights + (tile * 2 * kHeads + head) * kWeightLine;
      reinterpret_cast<OwnRows<bf16>*>(line)[own] = high;
      reinterpret_cast<OwnRows<bf16>*>(line + kHeads * kWeightLine)[own] = Rounded(rest);
    }
  }
};

}  // namespace opcast_ops
