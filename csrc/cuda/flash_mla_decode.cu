// o = softmax(sm_scale * q @ kv.T) @ kv and the logarithm of the softmax's denominator, for every
// sequence over its own rows of the cache: kv is kv_nope times its scales, then kv_rope.
//
// flash_mla_attend.h says how, and in which precision. The splits depend on the sequence's length
// and the number of sequences.
//
// Registers: at most 208.
#include <algorithm>

#include "flash_mla_attend.h"
#include "flash_mla_decode.gen.h"
#include "vectors.h"

namespace opcast_ops {
namespace {

using Args = FlashMlaDecodeArgs;

// Splits of a sequence at most; not more than the definition has scratch for.
int64_t MostSplits(const Args& args) {
  return std::min(args.splits, std::max<int64_t>(1, (kEnough + args.B - 1) / args.B));
}

// Reads 16 bytes of n elements.
template <class T>
OPCAST_DEVICE void ReadVector(const T* from, int64_t begin, int64_t n, bool aligned, bf16* to) {
  const bool whole = aligned && begin + Vector<T>::kSize <= n;
  const Vector<T> vector = whole ? Load<true>(from, begin, n) : Load<false>(from, begin, n);
  OPCAST_UNROLL
  for (int i = 0; i < Vector<T>::kSize; ++i)
    to[i] = static_cast<bf16>(static_cast<float>(vector.at[i]));
}

template <class F>
struct DecodeCall : MlaCall {
  const F* plain;
  const bf16* rotary;
  const float* scales;
  const int32_t* offsets;
  int64_t rows;
  bool aligned;

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

  OPCAST_DEVICE void ReadRows(int64_t first, int count, Shared& shared) const {
    constexpr int kPlainSize = Vector<F>::kSize, kRotarySize = Vector<bf16>::kSize;
    constexpr int kPlainVectors = kPlain / kPlainSize;
    constexpr int kVectors = kPlainVectors + kRotary / kRotarySize;
    OPCAST_NO_UNROLL
    for (int n = threadIdx.x; n < kRows * kVectors; n += kThreads) {
      const int i = n / kVectors, part = n % kVectors;
      const int64_t row = first + i;
      bf16* const to = shared.rows + i * kLine;
      if (part < kPlainVectors) {
        const int column = part * kPlainSize;
        ReadVector(plain, row * kPlain + column, (first + count) * kPlain, aligned, to + column);
      } else {
        const int column = (part - kPlainVectors) * kRotarySize;
        ReadVector(rotary, row * kRotary + column, (first + count) * kRotary, aligned,
                   to + kPlain + column);
      }
    }
    OPCAST_NO_UNROLL
    for (int n = threadIdx.x; n < kRows * kTiles; n += kThreads) {
      const int i = n / kTiles, tile = n % kTiles;
      const float scale = tile == kScales ? 1.0f
                          : i < count     ? scales[(first + i) * kScales + tile]
                                          : 0.0f;
      shared.scales[n] = i < count ? scale : 0.0f;
    }
  }
};

}  // namespace

int64_t FlashMlaDecodeCudaWorkspace(const Args& args, const opcast::Launch&) {
  return MostSplits(args) * args.B * args.H * (kWidth + 1) * static_cast<int64_t>(sizeof(float));
}

opcast::Status FlashMlaDecodeCuda(const Args& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using F = typename std::decay_t<decltype(a)>::F;
    const MlaCall call{a.q,      a.B,        a.H, MostSplits(a), static_cast<float>(a.sm_scale),
                       a.o_part, a.lse_part, a.o, a.lse};
    const bool aligned = Aligned({a.kv_nope, a.kv_rope});
    return StartCall(
        DecodeCall<F>{call, a.kv_nope, a.kv_rope, a.kv_scale, a.kv_indptr, a.T, aligned}, launch);
  });
}

}  // namespace opcast_ops
