#include "gather_cache.gen.h"
#include "numbers.h"

namespace inference_ops {

opcast::Status GatherCache(const GatherCacheArgs& args, const opcast::Launch& launch) {
  return Visit(args, [&](const auto& a) {
    using O = typename std::decay_t<decltype(a)>::O;
    const bool slots_first = a.layout == GatherCacheLayout::kNHD;
    opcast::ParallelFor(launch, a.N, 16, [&a, slots_first](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const auto slot = static_cast<int64_t>(a.slots[n]);
        const int64_t page = slot / a.S, s = slot % a.S;
        for (int64_t h = 0; h < a.H; ++h) {
          const int64_t row = slots_first ? slot * a.H + h : (page * a.H + h) * a.S + s;
          for (int64_t d = 0; d < a.D; ++d) {
            a.keys[(n * a.H + h) * a.D + d] = Narrow<O>(Widen(a.cache[row * a.D + d]) * a.scale);
          }
        }
      }
    });
    return opcast::Status::Ok();
  });
}

}  // namespace inference_ops
