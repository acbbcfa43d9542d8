// Sparse attention over a packed FP8 cache (see common/flash_mla_token.h): the sequence of a
// position are the tokens that its indices name, without those that are masked.
#pragma once

#include <cstring>

#include "common/flash_mla_token.h"
#include "cpu/attention/flash_mla_splits.h"

namespace opcast_ops {

// The tokens of a list.
template <class F>
struct TokenRows {
  using Code = F;

  const uint8_t* cache;
  const int32_t* tokens;
  int64_t count;

  const uint8_t* Token(int64_t row) const { return cache + tokens[row] * kTokenBytes; }

  RowParts<F> At(int64_t row, RowSpace* space) const {
    const uint8_t* const token = Token(row);
    std::memcpy(space->rotary, token + kRotaryAt, sizeof space->rotary);
    for (int64_t s = 0; s < kScales; ++s) {
      opcast::f8e8m0fnu scale;
      scale.bits = token[kScalesAt + s];
      space->scales[s] = static_cast<float>(scale);
    }
    return {reinterpret_cast<const F*>(token), space->rotary, space->scales};
  }
  // Tokens lie anywhere, so the one is fetched that is read a step later.
  __attribute__((always_inline)) void FetchNext(int64_t row) const {
    if (row + kRows < count) FetchBytes(Token(row + kRows), kTokenBytes);
  }
};

// A call of such an op. A position has place * most to place * most + counts[place] of the list.
struct SparseCall : MlaCall {
  const uint8_t* cache;
  bool is_fnuz;  // which FP8 the cache has
  const int32_t *tokens, *counts;
  int64_t most;
  int64_t splits;  // of each position; 0 means that they follow from the length

  Sequence At(int64_t b) const {
    constexpr int64_t kShortest = 256;  // rows of a split at least
    const int64_t length = counts[b];
    const int64_t chosen = std::clamp<int64_t>(length / kShortest, 1, most_splits);
    return {b * most, length, splits > 0 ? splits : chosen};
  }

  template <class F>
  void WithRows(F f) const {
    const int64_t count = positions * most;
    if (is_fnuz)
      f(TokenRows<opcast::f8e4m3fnuz>{cache, tokens, count});
    else
      f(TokenRows<opcast::f8e4m3fn>{cache, tokens, count});
  }
};

// flash_mla_sparse_decode.cc has this, for the other op, too.
extern template opcast::Status RunCall(const SparseCall&, const opcast::Launch&);

// Lists the tokens of all positions; 0 fills up what is left of a list.
template <class Args>
void ListTokens(const Args& args, const opcast::Launch& launch) {
  opcast::ParallelFor(launch, args.B * args.S, RowsPerChunk(args.K),
                      [&args](int64_t begin, int64_t end) {
                        for (int64_t place = begin; place < end; ++place) {
                          const int32_t* const indices = args.indices + place * args.K;
                          int32_t* const tokens = args.tokens + place * args.K;
                          const int64_t n = Indices(args.topk_length, place / args.S, args.K);
                          int32_t count = 0;
                          for (int64_t i = 0; i < n; ++i)
                            if (IsToken(indices[i], args.NB * args.PS))
                              tokens[count++] = indices[i];
                          std::fill(tokens + count, tokens + args.K, 0);
                          args.counts[place] = count;
                        }
                      });
}

// Computes a call with so many splits for each position, 0 for what follows from the lengths. A
// task has at most `group` heads.
template <class Args>
opcast::Status RunSparse(const Args& args, const opcast::Launch& launch, int64_t group,
                         int64_t splits, int64_t most_splits) {
  ListTokens(args, launch);
  const MlaCall call{args.q,        args.B * args.S, args.H,        group,  most_splits,
                     args.sm_scale, args.o_part,     args.lse_part, args.o, args.lse};
  const bool is_fnuz = args.fp8 == decltype(args.fp8)::kE4m3fnuz;
  return RunCall(
      SparseCall{call, args.kv_packed, is_fnuz, args.tokens, args.counts, args.K, splits}, launch);
}

}  // namespace opcast_ops
