// Turning pairs of columns of heads, for rope and its gradient.
#pragma once

#include <cstdint>

#include "common/rope.h"
#include "cuda/lib/count_division.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kTurnThreads = 128;
constexpr int64_t kManyTokens = 2048;  // enough to fill a GPU with a block for each

// a * c - b * s as if products were exact: what rounding one of them loses is added again.
OPCAST_DEVICE float Turned(float a, float c, float b, float s) {
  const float product = b * s;
  if (fabsf(product) <= kLargest) return fmaf(a, c, -product) + fmaf(-b, s, product);
  return static_cast<float>(double{a} * c - double{b} * s);
}

// kCount neighbouring elements, which are aligned if they are vectors.
template <int kCount, class V>
OPCAST_DEVICE void CopyElements(const V* from, V* to) {
  if constexpr (kCount == 1) {
    *to = *from;
  } else {
    OPCAST_UNROLL
    for (int e = 0; e < kCount; e += Vector<V>::kSize)
      *reinterpret_cast<Vector<V>*>(to + e) = *reinterpret_cast<const Vector<V>*>(from + e);
  }
}

// kCount pairs of a head of which `item` is the first: x[i + e] and x[j + e] are partners, or
// neighbours are if kInterleave.
template <int kCount, bool kInterleave, class T, class C>
OPCAST_DEVICE void TurnPairs(const T* x, T* y, int64_t item, const C* cosines,
                             const Turns<C>& turns) {
  const int64_t half = turns.width / 2;
  const int64_t i = kInterleave ? 2 * item : item, j = i + (kInterleave ? kCount : half);
  alignas(16) T from[2 * kCount], to[2 * kCount];
  alignas(16) C cosine[kCount], sine[kCount];
  CopyElements<kCount>(x + i, from);
  CopyElements<kCount>(x + j, from + kCount);
  CopyElements<kCount>(cosines + item, cosine);
  CopyElements<kCount>(cosines + half + item, sine);
  OPCAST_UNROLL
  for (int e = 0; e < kCount; ++e) {
    const int first = kInterleave ? 2 * e : e, second = kInterleave ? first + 1 : e + kCount;
    const float a = static_cast<float>(from[first]), b = static_cast<float>(from[second]);
    const float c = static_cast<float>(cosine[e]), sign = turns.back ? -1 : 1;
    const float s = sign * static_cast<float>(sine[e]);
    to[first] = static_cast<T>(Turned(a, c, b, s));
    to[second] = static_cast<T>(Turned(b, c, -a, s));
  }
  CopyElements<kCount>(to, y + i);
  CopyElements<kCount>(to + kCount, y + j);
}

// The heads of all tokens of two arrays, `columns` wide. A block per token, or several if tokens
// are few; a thread has kCount pairs, or columns that are copied, at a time.
template <int kCount, class T, class C>
__global__ void __launch_bounds__(kTurnThreads)
    TurnKernel(int64_t tokens, int64_t blocks, int64_t columns, Turns<C> turns, Heads<T> q,
               Heads<T> k) {
  const int64_t half = turns.width / 2, items = (columns - half) / kCount;
  for (int64_t tile = blockIdx.x; tile < tokens * blocks; tile += gridDim.x) {
    const Divided place = Divide(tile, blocks);
    const int64_t token = place.quotient;
    const C* const cosines = turns.Cosines(token);
    for (int64_t at = place.rest * kTurnThreads + threadIdx.x; at < (q.count + k.count) * items;
         at += blocks * kTurnThreads) {
      const Divided own = Divide(at, items);
      const Heads<T>& heads = own.quotient < q.count ? q : k;
      const int64_t head = own.quotient - (own.quotient < q.count ? 0 : q.count);
      const int64_t item = own.rest * kCount;
      const T* const x = heads.from + token * heads.token_stride + head * heads.head_stride;
      T* const y = heads.to + (token * heads.count + head) * columns;
      if (item >= half)
        CopyElements<kCount>(x + half + item, y + half + item);
      else if (turns.interleave)
        TurnPairs<kCount, true>(x, y, item, cosines, turns);
      else
        TurnPairs<kCount, false>(x, y, item, cosines, turns);
    }
  }
}

// Whether all heads begin where a vector may.
template <class T>
bool AlignedHeads(const Heads<T>& heads) {
  return Aligned({heads.from, heads.to}) &&
         (heads.token_stride | heads.head_stride) % Vector<T>::kSize == 0;
}

template <class T, class C>
opcast::Status StartTurn(const opcast::Launch& launch, int64_t tokens, int64_t columns,
                         const Turns<C>& turns, const Heads<T>& q, const Heads<T>& k) {
  constexpr int kSize = Vector<T>::kSize;
  const int64_t half = turns.width / 2, heads = q.count + k.count;
  if (heads == 0 || columns == 0) return opcast::Status::Ok();
  const bool aligned = columns % kSize == 0 && half % kSize == 0 && Aligned({turns.cache}) &&
                       AlignedHeads(q) && AlignedHeads(k);
  const int64_t items = heads * ((columns - half) / (aligned ? kSize : 1));
  const int64_t blocks = tokens < kManyTokens ? (items + kTurnThreads - 1) / kTurnThreads : 1;
  return opcast::Start(aligned ? TurnKernel<kSize, T, C> : TurnKernel<1, T, C>,
                       opcast::Blocks(tokens * blocks), kTurnThreads, 0, launch, tokens, blocks,
                       columns, turns, q, k);
}

}  // namespace opcast_ops
