// Turning pairs of columns of heads, for rope and its gradient. Products of floats are exact in
// double, where their sum is rounded, and then rounded to float and to the result.
#pragma once

#include <cstdint>

#include "common/rope.h"
#include "opcast/device.h"

namespace opcast_ops {

constexpr int kTurnThreads = 256;

// A block per token; a thread has a pair of columns, or a column that is copied, at a time.
template <class T>
__global__ void __launch_bounds__(kTurnThreads)
    TurnKernel(int64_t tokens, int64_t columns, Turns turns, Heads<T> heads) {
  const int64_t half = turns.width / 2, items = columns - half;
  for (int64_t token = blockIdx.x; token < tokens; token += gridDim.x) {
    const float* const cosines = turns.Cosines(token);
    for (int64_t at = threadIdx.x; at < heads.count * items; at += kTurnThreads) {
      const int64_t head = at / items, item = at % items;
      const T* const x = heads.from + token * heads.token_stride + head * heads.head_stride;
      T* const y = heads.to + (token * heads.count + head) * columns;
      if (item >= half) {
        y[item + half] = x[item + half];
        continue;
      }
      const int64_t i = turns.interleave ? 2 * item : item;
      const int64_t j = turns.interleave ? i + 1 : i + half;
      const double cosine = cosines[item];
      const double sine = turns.back ? -cosines[half + item] : cosines[half + item];
      const double first = static_cast<float>(x[i]), second = static_cast<float>(x[j]);
      y[i] = static_cast<T>(static_cast<float>(first * cosine - second * sine));
      y[j] = static_cast<T>(static_cast<float>(second * cosine + first * sine));
    }
  }
}

template <class T>
opcast::Status StartTurn(const opcast::Launch& launch, int64_t tokens, int64_t columns,
                         const Turns& turns, const Heads<T>& heads) {
  if (heads.count == 0 || columns == 0) return opcast::Status::Ok();
  return opcast::Start(TurnKernel<T>, opcast::Blocks(tokens), kTurnThreads, 0, launch, tokens,
                       columns, turns, heads);
}

// The same for two arrays.
template <class T>
opcast::Status StartTurn(const opcast::Launch& launch, int64_t tokens, int64_t columns,
                         const Turns& turns, const Heads<T>& first, const Heads<T>& second) {
  const opcast::Status status = StartTurn(launch, tokens, columns, turns, first);
  return status.ok() ? StartTurn(launch, tokens, columns, turns, second) : status;
}

}  // namespace opcast_ops
