// Sparse attention over a packed FP8 cache (see common/flash_mla_token.h): the rows of a position
// are the tokens that its indices name, without those that are masked, which a kernel lists first.
#pragma once

#include <cstring>

#include "common/flash_mla_token.h"
#include "count.h"
#include "flash_mla_attend.h"

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
    if (threadIdx.x == 0) args.counts[place] = static_cast<int32_t>(all);
  }
}

// Eight bytes of a token. Tokens lie eight bytes apart, or a multiple of that.
struct alignas(8) Eight {
  uint8_t at[8];
};

template <class F>
struct SparseCall : MlaCall {
  const uint8_t* cache;
  const int32_t *tokens, *counts;
  int64_t most;    // tokens of a position
  int64_t splits;  // of a position; 0 means that they follow from the length
  bool aligned;

  OPCAST_DEVICE int64_t Begin(int64_t b) const { return b * most; }
  OPCAST_DEVICE int64_t Length(int64_t b) const { return counts[b]; }
  OPCAST_DEVICE int64_t Splits(int64_t length) const {
    return splits > 0 ? splits : SplitsFor(length);
  }

  OPCAST_DEVICE Eight Read(const uint8_t* from) const {
    if (aligned) return *reinterpret_cast<const Eight*>(from);
    Eight eight;
    OPCAST_UNROLL
    for (int i = 0; i < 8; ++i) eight.at[i] = from[i];
    return eight;
  }

  OPCAST_DEVICE void ReadRows(int64_t first, int count, Shared& shared) const {
    constexpr int kParts = kScalesAt / 8;
    OPCAST_NO_UNROLL
    for (int n = threadIdx.x; n < kRows * kParts; n += kThreads) {
      const int i = n / kParts, part = n % kParts, at = part * 8;
      bf16* const to = shared.rows + i * kLine;
      const bool there = i < count;
      const Eight bytes = there ? Read(cache + tokens[first + i] * kTokenBytes + at) : Eight{};
      if (at < kRotaryAt) {
        OPCAST_UNROLL
        for (int k = 0; k < 8; ++k) {
          F code;
          code.bits = there ? bytes.at[k] : 0;
          to[at + k] = static_cast<bf16>(static_cast<float>(code));
        }
      } else {
        OPCAST_UNROLL
        for (int k = 0; k < 8; k += 2) {
          const uint32_t bits = bytes.at[k] | uint32_t{bytes.at[k + 1]} << 8;
          to[kPlain + (at - kRotaryAt + k) / 2] =
              static_cast<bf16>(opcast::detail::FromBits(bits << 16));
        }
      }
    }
    ReadScales(first, count, shared);
  }

 private:
  OPCAST_DEVICE void ReadScales(int64_t first, int count, Shared& shared) const {
    OPCAST_NO_UNROLL
    for (int n = threadIdx.x; n < kRows * kTiles; n += kThreads) {
      const int i = n / kTiles, tile = n % kTiles;
      opcast::f8e8m0fnu scale;
      scale.bits = 127;
      if (tile < kScales && i < count)
        scale.bits = cache[tokens[first + i] * kTokenBytes + kScalesAt + tile];
      shared.scales[n] = i < count ? static_cast<float>(scale) : 0.0f;
    }
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
  const MlaCall call{a.q,      positions,  a.H, most_splits, static_cast<float>(a.sm_scale),
                     a.o_part, a.lse_part, a.o, a.lse};
  const bool aligned = reinterpret_cast<uintptr_t>(a.kv_packed) % sizeof(Eight) == 0;
  using Fp8 = decltype(a.fp8);
  if (a.fp8 == Fp8::kE4m3fn) {
    using Call = SparseCall<opcast::f8e4m3fn>;
    return StartCall(Call{call, a.kv_packed, a.tokens, a.counts, a.K, splits, aligned}, launch);
  }
  using Call = SparseCall<opcast::f8e4m3fnuz>;
  return StartCall(Call{call, a.kv_packed, a.tokens, a.counts, a.K, splits, aligned}, launch);
}

}  // namespace opcast_ops
