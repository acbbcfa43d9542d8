// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// flash_mla_attend.h says how, and in which precision. The splits depend on the sequence's length
// and the number of sequences.
//
// Registers: at most 128.
// sass: allows narrow in AttendKernel: rows at any address
#include <algorithm>

#include "cuda/attention/flash_mla_attend.h"
#include "cuda/lib/vectors_16_bytes.h"
#include "flash_mla_decode.gen.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;

// Splits of a sequence at most; not more than the definition has scratch for.
int64_t MostSplits(const Args& args) {
  return std::min(args.splits, std::max<int64_t>(1, (kEnough + args.B - 1) / args.B));
}

template <class F>
struct DecodeRows : MlaCall {
  using Code = F;
  const F* plain;
  const bf16* rotary;
  const float* scales;
  const int32_t* offsets;
  int64_t rows;

  // Offsets that the definition forbids lead to wrong results, but not out of the cache.
  OPCAST_DEVICE int64_t Begin(int64_t i) const {
    const int64_t offset = offsets[i];
    return offset < 0 ? 0 : offset > rows ? rows : offset;
  }
  OPCAST_DEVICE int64_t Length(int64_t i) const {
    const int64_t length = Begin(i + 1) - Begin(i);
    return length < 0 ? 0 : length;
  }
  OPCAST_DEVICE int64_t Splits(int64_t length) const { return SplitsFor(length); }

  OPCAST_DEVICE int64_t Place(int64_t row) const { return row; }
  OPCAST_DEVICE const uint8_t* Part(int64_t row, int part) const {
    if (part < kCodeParts) return reinterpret_cast<const uint8_t*>(plain + row * kPlain) + part * 8;
    return reinterpret_cast<const uint8_t*>(rotary + row * kRotary) + (part - kCodeParts) * 8;
  }
  OPCAST_DEVICE float Scale(int64_t row, int tile) const { return scales[row * kScales + tile]; }
};

}  // namespace

int64_t FlashMlaDecodeCudaWorkspace(const Args& args, const opcast::Launch&) {
  return MostSplits(args) * args.B * args.H * (kWidth + 1) * static_cast<int64_t>(sizeof(float));
}

opcast::Status FlashMlaDecodeCuda(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using F = typename std::decay_t<decltype(a)>::F;
    const bool aligned = Aligned({a.q, a.kv_nope, a.kv_rope, a.o_part});
    const MlaCall call{a.q,      a.B,        a.H, MostSplits(a), static_cast<float>(a.sm_scale),
                       a.o_part, a.lse_part, a.o, a.lse,         aligned};
    return StartCall(DecodeRows<F>{call, a.kv_nope, a.kv_rope, a.kv_scale, a.kv_indptr, a.T},
                     launch);
  });
}

}  // namespace opcast_ops
