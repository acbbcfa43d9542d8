// Rows of keys and values become rows of a paged cache, for each token those of its slot.
//
// What keeps its dtype and has no scale is copied bit by bit. Else quotients are float, rounded
// once; for FP8, what is beyond the largest number becomes that, as in vLLM. Slots below 0 and
// beyond the last one are skipped.
#include "cpu/lib/standard_headers.h"

#include <algorithm>
#include <cstring>

#include "common/integer_arrays.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "reshape_and_cache.gen.h"

namespace opcast_ops {
namespace {

// Where the row of a token's head goes in a cache, and where it lies.
struct Places {
  int64_t slots, page, slot, head, token, token_head;

  Places(bool nhd, int64_t slots, const opcast::Layout& cache, const opcast::Layout& tokens)
      : slots(slots),
        page(cache.Stride(-4)),
        slot(nhd ? cache.Stride(-3) : cache.Stride(-2)),
        head(nhd ? cache.Stride(-2) : cache.Stride(-3)),
        token(tokens.Stride(-3)),
        token_head(tokens.Stride(-2)) {}

  int64_t To(int64_t at, int64_t h) const {
    return at / slots * page + at % slots * slot + h * head;
  }
  int64_t From(int64_t n, int64_t h) const { return n * token + h * token_head; }
};

template <int kVector, class T, class C>
inline void WriteRow(const T* from, int64_t n, const float* scale, C* to) {
  if (std::is_same_v<T, C> && scale == nullptr) {
    if (n > 0) std::memcpy(to, from, static_cast<size_t>(n) * sizeof(C));
    return;
  }
  const float divisor = scale == nullptr ? 1 : *scale;
  if constexpr (std::is_same_v<T, C>) {
    Map<kVector>(n, [divisor](float x) { return x / divisor; }, to, from);
  } else {
    constexpr float kMost = std::is_same_v<C, opcast::f8e4m3fn> ? 448 : 240;
    const auto quotient = [divisor](float x) {
      const float y = x / divisor;
      return Select(y == y, __builtin_copysignf(Magnitude(y, kMost), y), y);
    };
    constexpr int64_t kCount = Lanes<kVector>::kCount;
    for (int64_t i = 0; i < n; i += kCount)
      MapRest<kVector>(AnyNan(), std::min(kCount, n - i), quotient, to + i, from + i);
  }
}

template <class T, class C>
void Write(const ReshapeAndCacheArgs& args, const opcast::Launch& launch) {
  const bool nhd = args.layout == ReshapeAndCacheLayout::kNHD;
  const Places keys(nhd, args.S, args.k_cache_layout, args.key_layout);
  const Places values(nhd, args.S, args.v_cache_layout, args.value_layout);
  const Numbers slots{args.slot_mapping, args.I == opcast::DType::kI64};
  const auto *key = static_cast<const T*>(args.key), *value = static_cast<const T*>(args.value);
  auto *k_cache = static_cast<C*>(args.k_cache), *v_cache = static_cast<C*>(args.v_cache);
  const auto write = [&](int64_t begin, int64_t end, auto vector) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t slot = slots[n];
      if (slot < 0 || slot >= args.P * args.S) continue;
      for (int64_t h = 0; h < args.H; ++h) {
        WriteRow<vector>(key + keys.From(n, h), args.D, args.k_scale, k_cache + keys.To(slot, h));
        WriteRow<vector>(value + values.From(n, h), args.Dv, args.v_scale,
                         v_cache + values.To(slot, h));
      }
    }
  };
  opcast::ParallelFor(launch, args.N, RowsPerChunk(args.H * (args.D + args.Dv)), write);
}

}  // namespace

opcast::Status ReshapeAndCache(const ReshapeAndCacheArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using A = std::decay_t<decltype(a)>;
    Write<typename A::T, typename A::C>(args, launch);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
