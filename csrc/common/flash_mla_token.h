// How the tokens of a packed FP8 cache lie, one after the other: 448 codes of FP8, 64 rotary
// columns of bfloat16, 7 scales that are powers of two, and a byte that fills up. No part but the
// codes need be aligned.
#pragma once

#include <cstdint>

#include "opcast/fp8.h"

namespace opcast_ops {

constexpr int64_t kTokenBytes = 584, kRotaryAt = 448, kScalesAt = 576;  // in bytes

// Whether an index names a token of the cache. Others, such as -1, are masked.
OPCAST_HOST_DEVICE inline bool IsToken(int64_t index, int64_t tokens) {
  return index >= 0 && index < tokens;
}

// How many indices of a position count.
OPCAST_HOST_DEVICE inline int64_t Indices(const int32_t* topk_length, int64_t b, int64_t most) {
  if (topk_length == nullptr) return most;
  const int64_t length = topk_length[b];
  return length < 0 ? 0 : length < most ? length : most;
}

}  // namespace opcast_ops
