// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// flash_mla_splits.h says how, and in which precision. How a sequence is split depends on its
// length only, so bits depend neither on the other sequences nor on the number of threads.
#include "cpu/lib/standard_headers.h"

#include "cpu/attention/flash_mla_splits.h"
#include "flash_mla_decode.gen.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;

constexpr int64_t kShortest = 256, kSplits = 16;  // rows of a split at least, splits at most

// Rows that lie as the definition has them.
template <class F>
struct DenseRows {
  using Code = F;

  const F* plain;
  const opcast::bf16* rotary;
  const float* scales;
  int64_t count;

  RowParts<F> At(int64_t row, RowSpace*) const {
    return {plain + row * kPlain, rotary + row * kRotary, scales + row * kScales};
  }
  // Nothing is read between bursts, so the row is fetched that is read a step later.
  __attribute__((always_inline)) void FetchNext(int64_t row) const {
    row += kRows;
    if (row >= count) return;
    FetchBytes(plain + row * kPlain, kPlain);
    FetchBytes(rotary + row * kRotary, kRotary * static_cast<int64_t>(sizeof(opcast::bf16)));
    FetchToRead(scales + row * kScales);
  }
};

struct DecodeCall : MlaCall {
  const Args& args;

  // Offsets that the definition forbids lead to wrong results, but not out of the cache. There are
  // not more splits than the definition has scratch for, since no sequence is longer than the
  // cache.
  Sequence At(int64_t b) const {
    const int64_t first = std::clamp<int64_t>(args.kv_indptr[b], 0, args.T);
    const int64_t length = std::clamp<int64_t>(args.kv_indptr[b + 1], first, args.T) - first;
    return {first, length, std::clamp<int64_t>(length / kShortest, 1, kSplits)};
  }

  template <class F>
  void WithRows(F f) const {
    Visit(args, [&](const auto& a) {
      using Code = typename std::decay_t<decltype(a)>::F;
      f(DenseRows<Code>{a.kv_nope, a.kv_rope, a.kv_scale, a.T});
      return opcast::Status::Ok();
    });
  }
};

}  // namespace

opcast::Status FlashMlaDecode(const Args& args, const opcast::Launch& launch) {
  const MlaCall call{args.q,        args.B,      args.H,        kHeads, kSplits,
                     args.sm_scale, args.o_part, args.lse_part, args.o, args.lse};
  return RunCall(DecodeCall{call, args}, launch);
}

}  // namespace opcast_ops
