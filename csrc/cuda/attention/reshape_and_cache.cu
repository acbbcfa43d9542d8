// Rows of keys and values become rows of a paged cache, for each token those of its slot.
//
// A block has a token and one of the two caches, a thread vectors of its rows. What keeps its dtype
// and has no scale is copied bit by bit. Else quotients are float, rounded once; for FP8, what is
// beyond the largest number becomes that. Slots below 0 and beyond the last one are skipped.
//
// Registers: at most 56.
// sass: allows call in WriteKernel: indices beyond 32 bits
// sass: allows narrow in WriteKernel: arrays whose rows are not aligned
#include <type_traits>

#include "cuda/lib/vectors_16_bytes.h"
#include "opcast/device.h"
#include "opcast/fp8.h"
#include "reshape_and_cache.gen.h"

namespace opcast_ops {
namespace {

constexpr int kThreads = 128;

// One of the two caches.
template <class T, class C>
struct Target {
  const T* from;
  C* to;
  const float* scale;
  int64_t page, slot, head, token, token_head, columns;
};

template <class T, class C, class I>
struct Call {
  Target<T, C> targets[2];
  const I* slots;
  int64_t tokens, heads, pages, per_page;
};

template <class T, class C>
OPCAST_DEVICE C Divide(T x, float divisor) {
  float y = static_cast<float>(x) / divisor;
  if constexpr (!std::is_same_v<T, C>) {
    constexpr float kMost = std::is_same_v<C, opcast::f8e4m3fn> ? 448 : 240;
    y = y > kMost ? kMost : y < -kMost ? -kMost : y;
  }
  return static_cast<C>(y);
}

// Writes the vector that begins at `begin` of a row of n elements.
template <bool kWhole, class T, class C>
OPCAST_DEVICE void WriteVector(const T* from, int64_t begin, int64_t n, const float* scale, C* to) {
  const Vector<T> vector = Load<kWhole>(from, begin, n);
  if constexpr (std::is_same_v<T, C>) {
    if (scale == nullptr) return Store<kWhole>(vector, to, begin, n);
  }
  const float divisor = scale == nullptr ? 1.0f : *scale;
  OPCAST_UNROLL
  for (int e = 0; e < Vector<T>::kSize; ++e)
    if (kWhole || begin + e < n) to[begin + e] = Divide<T, C>(vector.at[e], divisor);
}

template <bool kWhole, class T, class C, class I>
__global__ void __launch_bounds__(kThreads) WriteKernel(Call<T, C, I> call) {
  constexpr int kSize = Vector<T>::kSize;
  for (int64_t tile = blockIdx.x; tile < 2 * call.tokens; tile += gridDim.x) {
    const Target<T, C>& target = call.targets[tile % 2];
    const int64_t n = tile / 2, slot = call.slots[n];
    const int64_t vectors = (target.columns + kSize - 1) / kSize;
    if (slot < 0 || slot >= call.pages * call.per_page) continue;
    const T* const from = target.from + n * target.token;
    C* const to =
        target.to + slot / call.per_page * target.page + slot % call.per_page * target.slot;
    OPCAST_NO_UNROLL
    for (int64_t i = threadIdx.x; i < call.heads * vectors; i += kThreads) {
      const int64_t h = i / vectors, begin = i % vectors * kSize;
      WriteVector<kWhole>(from + h * target.token_head, begin, target.columns, target.scale,
                          to + h * target.head);
    }
  }
}

template <class T, class C>
Target<T, C> TargetOf(bool nhd, const T* from, C* to, const float* scale,
                      const opcast::Layout& tokens, const opcast::Layout& cache, int64_t columns) {
  return {from,
          to,
          scale,
          cache.Stride(-4),
          nhd ? cache.Stride(-3) : cache.Stride(-2),
          nhd ? cache.Stride(-2) : cache.Stride(-3),
          tokens.Stride(-3),
          tokens.Stride(-2),
          columns};
}

// Whether all rows begin where vectors may.
template <class T, class C>
bool IsAligned(const Target<T, C>& t) {
  constexpr int64_t kSize = Vector<T>::kSize;
  bool aligned = AlignedRows<T>({t.from}, t.columns) && Aligned({t.to});
  for (const int64_t stride : {t.page, t.slot, t.head, t.token, t.token_head})
    aligned = aligned && stride % kSize == 0;
  return aligned;
}

}  // namespace

opcast::Status ReshapeAndCacheCuda(const ReshapeAndCacheArgs& args, const opcast::Launch& launch) {
  const bool nhd = args.layout == ReshapeAndCacheLayout::kNHD;
  return Visit(args, [&](const auto& a) {
    using T = typename std::decay_t<decltype(a)>::T;
    using C = typename std::decay_t<decltype(a)>::C;
    using I = typename std::decay_t<decltype(a)>::I;
    const Target<T, C> keys =
        TargetOf(nhd, a.key, a.k_cache, a.k_scale, a.key_layout, a.k_cache_layout, a.D);
    const Target<T, C> values =
        TargetOf(nhd, a.value, a.v_cache, a.v_scale, a.value_layout, a.v_cache_layout, a.Dv);
    const bool whole = IsAligned(keys) && IsAligned(values);
    const Call<T, C, I> call{{keys, values}, a.slot_mapping, a.N, a.H, a.P, a.S};
    return opcast::Start(whole ? WriteKernel<true, T, C, I> : WriteKernel<false, T, C, I>,
                         opcast::Blocks(2 * a.N), kThreads, 0, launch, call);
  });
}

}  // namespace opcast_ops
