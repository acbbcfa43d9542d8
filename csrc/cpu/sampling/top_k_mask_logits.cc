// masked_logits[b, i] = logits[b, i] where it is at least the last of the row's top_k[b] largest
// numbers, -inf elsewhere. Exact. NaN counts as -inf, and becomes it.
#include "cpu/lib/standard_headers.h"

#include "common/sort_key.h"
#include "cpu/lib/map_elements.h"
#include "cpu/lib/row_reductions.h"
#include "cpu/sampling/row_thresholds.h"
#include "top_k_mask_logits.gen.h"

namespace opcast_ops {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The last of the k largest numbers of a row; NaN if all are NaN.
template <int kWidth, class T>
inline float LastOfLargest(const T* x, int64_t n, int64_t k) {
  if (k <= 0 || k >= n) return kMasked;
  if (k <= kFew) return FewLargest<kWidth>(x, n, k, kMasked);
  const auto key = [x](int64_t i) {
    const auto number = static_cast<float>(x[i]);
    return number == number ? RankKey(number, true) : 0;
  };
  const auto one = [](int64_t) { return 1; };
  return OfRankKey(KeyAtWeight(n, key, one, static_cast<double>(k)));
}

}  // namespace

opcast::Status TopKMaskLogits(const TopKMaskLogitsArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    const Stores<Exact> stores = {PastCache(launch, a.masked_logits, a.B * a.V, 2)};
    const auto rows = [&a, stores](int64_t begin, int64_t end, auto width) {
      for (int64_t row = begin; row < end; ++row) {
        const auto* const x = a.logits + row * a.V;
        const float last = LastOfLargest<width>(x, a.V, a.top_k[row]);
        const auto mask = [last](float number) { return Select(number >= last, number, kMasked); };
        MoveTo<width>(stores, a.V, mask, a.masked_logits + row * a.V, x);
      }
    };
    opcast::ParallelFor(launch, a.B, RowsPerChunk(a.V), rows);
    return opcast::Status::Ok();
  });
}

}  // namespace opcast_ops
