// Sparse attention over a packed FP8 cache (see common/flash_mla_token.h): the rows of a position
// are the tokens that its indices name, without those that are masked, which a kernel lists first.
#pragma once

#include "common/flash_mla_token.h"
#include "cuda/attention/flash_mla_attend.h"
#include "cuda/lib/block_prefix_sum.h"

namespace opcast_ops {

// What ListKernel gets.
struct ListArgs {
  const int32_t *indices, *topk_length;
  int64_t B, S, K, tokens_there;
  int32_t *tokens, *counts;
};

// Lists the tokens of a position for each block.
static __global__ void __launch_bounds__(kThreads) ListKernel(ListArgs args) {
  const int64_t positions = args.B * args.S;
  for (int64_t place = blockIdx.x; place < positions; place += gridDim.x) {
    const int64_t n = Indices(args.topk_length, place / args.S, args.K);
    const int64_t begin = n * threadIdx.x / kThreads, end = n * (threadIdx.x + 1) / kThreads;
    const int32_t* const indices = args.indices + place * args.K;
    int64_t count = 0, all;
    for (int64_t i = begin; i < end; ++i) count += IsToken(indices[i], args.tokens_there);
    int64_t to = place * args.K + CountBefore<kThreads>(count, &all);
    for (int64_t i = begin; i < end; ++i)
      if (IsToken(indices[i], args.tokens_there)) args.tokens[to++] = indices[i];
    if (threadIdx.x == 0) args.counts[place] = opcast::Narrow<int32_t>(all);
  }
}

template <class F>
struct SparseCall : MlaCall {
  using Code = F;
  const uint8_t* cache;
  const int32_t *tokens, *counts;
  int64_t most;    // tokens of a position
  int64_t splits;  // of a position; 0 means that they follow from the length

  OPCAST_DEVICE int64_t Begin(int64_t b) const { return b * most; }
  OPCAST_DEVICE int64_t Length(int64_t b) const { return counts[b]; }
  OPCAST_DEVICE int64_t Splits(int64_t length) const {
    return splits > 0 ? splits : SplitsFor(length);
  }

  // Tokens lie eight bytes apart, or a multiple of that.
  static_assert(kTokenBytes % 8 == 0 && kRotaryAt == kPlain && kScalesAt == kRowParts * 8);
  OPCAST_DEVICE int64_t Place(int64_t row) const { return tokens[row] * kTokenBytes; }
  OPCAST_DEVICE const uint8_t* Part(int64_t place, int part) const {
    return cache + place + part * 8;
  }
  OPCAST_DEVICE float Scale(int64_t place, int tile) const {
    opcast::f8e8m0fnu scale;
    scale.bits = cache[place + kScalesAt + tile];
    return static_cast<float>(scale);
  }
};

// Computes a call with so many splits for each position, 0 for what follows from the lengths.
template <class Args>
opcast::Status StartSparse(const Args& a, int64_t splits, int64_t most_splits,
                           const opcast::Launch& launch) {
  const int64_t positions = a.B * a.S;
  const ListArgs list{a.indices, a.topk_length, a.B, a.S, a.K, a.NB * a.PS, a.tokens, a.counts};
  const opcast::Status status =
      opcast::Start(ListKernel, opcast::Blocks(positions), kThreads, 0, launch, list);
  if (!status.ok()) return status;
  const bool aligned =
      Aligned({a.q, a.o_part}) && reinterpret_cast<uintptr_t>(a.kv_packed) % 8 == 0;
  const MlaCall call{a.q,      positions,  a.H, most_splits, static_cast<float>(a.sm_scale),
                     a.o_part, a.lse_part, a.o, a.lse,       aligned};
  using Fp8 = decltype(a.fp8);
  if (a.fp8 == Fp8::kE4m3fn) {
    using Call = SparseCall<opcast::f8e4m3fn>;
    return StartCall(Call{call, a.kv_packed, a.tokens, a.counts, a.K, splits}, launch);
  }
  using Call = SparseCall<opcast::f8e4m3fnuz>;
  return StartCall(Call{call, a.kv_packed, a.tokens, a.counts, a.K, splits}, launch);
}

}  // namespace opcast_ops
