// Attention on tensor cores: a warp has 16 queries of one head and goes over the keys of a tile.
//
// What is computed is what attention.h says. Scores, weights and sums stay in registers, as in
// FlashAttention-2. Each weight enters the second product as two numbers of 16 bits, high + low, so
// that results are as exact as with weights in float; this costs half as much again. Rows of
// shared memory are swizzled, so that ldmatrix meets no bank twice.
//
// Depths of keys and of values are multiples of 8 of at most kDepth; what lacks is zero.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/attention/attention.h"
#include "cuda/lib/tensor_cores.h"

namespace opcast_ops {

constexpr int kTileKeys = 64, kKeyParts = kTileKeys / 8;  // parts of 8 keys
constexpr int kWarpQueries = 16;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.69314718f;

// A matrix in shared memory with rows of kDepth numbers. The places of 16 bytes within a row are
// permuted by the row.
template <class T, int kDepth>
struct SwizzledRows {
  T* base;

  OPCAST_DEVICE T* At(int row, int part) const {
    return base + row * kDepth + ((part ^ (row & 7)) * 8);
  }
  OPCAST_DEVICE uint32_t Address(int row, int part) const { return SharedAddress(At(row, part)); }

  // Begins to copy the first kRows rows of a matrix that has `rows`, zeros beyond them, by kThreads
  // threads.
  template <int kRows, int kThreads>
  OPCAST_DEVICE void Fetch(int thread, const T* from, int64_t distance, int64_t rows,
                           int columns) const {
    constexpr int kParts = kDepth / 8, kStep = kThreads / kParts;  // rows at a time
    static_assert(kThreads % kParts == 0 && kRows % kStep == 0);
    thread = Anew(thread);
    const int first = thread / kParts, part = thread % kParts;
    const int bytes = part * 8 < columns ? 16 : 0;
    from += first * distance + part * 8;
    OPCAST_UNROLL
    for (int n = 0; n < kRows / kStep; ++n, from += kStep * distance) {
      const int row = first + n * kStep;
      CopyOrZero(Address(row, part), from, row < rows ? bytes : 0);
    }
  }
};

// The products of the warp's queries and the keys of a tile.
template <class T, int kDepth>
OPCAST_DEVICE void Multiply(const uint32_t (&q)[kDepth / 16][4],
                            const SwizzledRows<T, kDepth>& keys, float (&scores)[kKeyParts][4]) {
  const int lane = Anew(opcast::Lane()), row = (lane & 7) + ((lane >> 4) << 3),
            part = (lane >> 3) & 1;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) scores[n][e] = 0;
  }
  OPCAST_UNROLL
  for (int k = 0; k < kDepth / 16; ++k) {
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; n += 2) {
      uint32_t b[4];
      LoadMatrices(b, keys.Address(n * 8 + row, k * 2 + part));
      AddProduct(scores[n], q[k], b[0], b[1], T());
      AddProduct(scores[n + 1], q[k], b[2], b[3], T());
    }
  }
}

// What becomes of a product: a score is `factor` times it, in units of log2(e). With a cap, which
// is never reached, it first becomes cap - 2 * cap / (1 + e^(2 * scale * product / cap)).
struct ScoreScale {
  float factor, inner, cap;

  OPCAST_DEVICE explicit ScoreScale(const SightAndScores& sight)
      : factor(kLog2E * (sight.capped ? 1.0f : sight.scale)),
        inner(2 * kLog2E * sight.scale / sight.cap),
        cap(sight.cap) {
    if (factor < 0x1p-126f) factor = 0x1p-126f;  // -inf hides keys; times 0, it would be NaN
  }
  OPCAST_DEVICE void Cap(float (&scores)[kKeyParts][4]) const {
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e)
        scores[n][e] = fmaf(cap, __fdividef(-2.0f, Exp2(scores[n][e] * inner) + 1), cap);
    }
  }
};

// The keys of a tile that a lane's two queries see: from begin to end.
struct TileSight {
  int begin[2], end[2];

  OPCAST_DEVICE TileSight(const SightAndScores& sight, int64_t place, int64_t key, int64_t keys) {
    const auto within = [](int64_t n) {
      return static_cast<int>(n < 0 ? 0 : n < kTileKeys ? n : kTileKeys);
    };
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      begin[half] = within(sight.Begin(place + half * 8) - key);
      end[half] = within(sight.End(place + half * 8, keys) - key);
    }
  }
  OPCAST_DEVICE bool Sees(int half, int key) const { return key >= begin[half] && key < end[half]; }

  // Hides the others.
  OPCAST_DEVICE void Hide(float (&scores)[kKeyParts][4]) const {
    const int column = opcast::Lane() % 4 * 2;
    OPCAST_UNROLL
    for (int n = 0; n < kKeyParts; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) {
        if (!Sees(e / 2, n * 8 + column + e % 2)) scores[n][e] = -INFINITY;
      }
    }
  }
};

// What a lane knows of its two queries, g and g + 8: the largest score so far, in units of log2(e),
// and the sum of the weights, of which each of four lanes has a part.
struct TileRows {
  float largest[2], sum[2];

  // Makes weights of scores; `sums` shrink where there is a larger score than before.
  template <int kParts>
  OPCAST_DEVICE void Weigh(float factor, float (&scores)[kKeyParts][4], float (&sums)[kParts][4]) {
    float shrink[2];
    OPCAST_UNROLL
    for (int half = 0; half < 2; ++half) {
      float most = -INFINITY;
      OPCAST_UNROLL
      for (int n = 0; n < kKeyParts; ++n)
        most = fmaxf(most, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
      most = opcast::WarpReduce(most, [](float a, float b) { return fmaxf(a, b); }, 4);
      most = fmaxf(largest[half], most * factor);
      const float least = most == -INFINITY ? 0.0f : most;  // no key is seen yet
      shrink[half] = Exp2(largest[half] - least);
      largest[half] = most;
      float added = 0;
      OPCAST_UNROLL
      for (int n = 0; n < kKeyParts; ++n) {
        OPCAST_UNROLL
        for (int e = 2 * half; e < 2 * half + 2; ++e)
          added += scores[n][e] = Exp2(fmaf(scores[n][e], factor, -least));
      }
      sum[half] = fmaf(sum[half], shrink[half], added);
    }
    if (!opcast::WarpAny(shrink[0] != 1 || shrink[1] != 1)) return;
    OPCAST_UNROLL
    for (int n = 0; n < kParts; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) sums[n][e] *= shrink[e / 2];
    }
  }
};

// The part of a weight that 16 bits hold, and what they lack, for the 16 keys of a product.
template <class T>
OPCAST_DEVICE void Split(const float (&weights)[kKeyParts][4], int k, uint32_t (&high)[4],
                         uint32_t (&low)[4]) {
  OPCAST_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float* const pair = &weights[2 * k + i / 2][i % 2 * 2];
    high[i] = Pack<T>(pair[0], pair[1]);
    T both[2];
    __builtin_memcpy(both, &high[i], 4);
    low[i] = Pack<T>(pair[0] - static_cast<float>(both[0]), pair[1] - static_cast<float>(both[1]));
  }
}

// Adds the weighted values of a tile.
template <class T, int kDepth>
OPCAST_DEVICE void AddValues(const float (&weights)[kKeyParts][4],
                             const SwizzledRows<T, kDepth>& values, float (&sums)[kDepth / 8][4]) {
  const int lane = Anew(opcast::Lane()), row = lane & 15, part = lane >> 4;
  OPCAST_UNROLL
  for (int k = 0; k < kTileKeys / 16; ++k) {
    uint32_t high[4], low[4];
    Split<T>(weights, k, high, low);
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; n += 4) {
      uint32_t b[2][4];
      LoadTransposed(b[0], values.Address(k * 16 + row, n + part));
      LoadTransposed(b[1], values.Address(k * 16 + row, n + 2 + part));
      OPCAST_UNROLL
      for (int i = 0; i < 4; ++i)
        AddProduct(sums[n + i], high, b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1], T());
      OPCAST_UNROLL
      for (int i = 0; i < 4; ++i)
        AddProduct(sums[n + i], low, b[i / 2][i % 2 * 2], b[i / 2][i % 2 * 2 + 1], T());
    }
  }
}

template <class T>
OPCAST_DEVICE bool IsNumber(T x) {
  return static_cast<float>(x) - static_cast<float>(x) == 0;
}

// Adds the weighted values of a tile that are infinite or NaN, for queries that see them: in the
// product, they would reach the others, too, by a weight of 0. `room` holds the warp's weights, -1
// for keys that are not seen.
template <class T, int kDepth>
OPCAST_DEVICE void AddNoNumbers(const float (&weights)[kKeyParts][4], const TileSight& sight,
                                const SwizzledRows<T, kDepth>& values, float* room,
                                float (&sums)[kDepth / 8][4]) {
  const int g = opcast::Lane() / 4, column = opcast::Lane() % 4 * 2;
  OPCAST_UNROLL
  for (int n = 0; n < kKeyParts; ++n) {
    OPCAST_UNROLL
    for (int e = 0; e < 4; ++e) {
      const int at = n * 8 + column + e % 2;
      room[(g + e / 2 * 8) * kTileKeys + at] = sight.Sees(e / 2, at) ? weights[n][e] : -1.0f;
    }
  }
  opcast::SyncWarp();
  OPCAST_NO_UNROLL
  for (int i = 0; i < kTileKeys; ++i) {
    OPCAST_UNROLL
    for (int n = 0; n < kDepth / 8; ++n) {
      OPCAST_UNROLL
      for (int e = 0; e < 4; ++e) {
        const float weight = room[(g + e / 2 * 8) * kTileKeys + i];
        const T value = values.At(i, n)[column + e % 2];
        if (!IsNumber(value) && !(weight < 0))
          sums[n][e] = fmaf(weight, static_cast<float>(value), sums[n][e]);
      }
    }
  }
}

// Whether the calling thread's part of a tile has infinities or NaN; they become zeros if kClear.
template <bool kClear, int kThreads, class T, int kDepth>
OPCAST_DEVICE bool HasNoNumbers(const SwizzledRows<T, kDepth>& values) {
  bool found = false;
  OPCAST_UNROLL
  for (int n = 0; n < kTileKeys * kDepth / 8 / kThreads; ++n) {
    T* const at = values.base + (n * kThreads + static_cast<int>(threadIdx.x)) * 8;
    OPCAST_UNROLL
    for (int e = 0; e < 8; ++e) {
      if (IsNumber(at[e])) continue;
      found = true;
      if (kClear) at[e] = static_cast<T>(0.0f);
    }
  }
  return found;
}

}  // namespace opcast_ops
